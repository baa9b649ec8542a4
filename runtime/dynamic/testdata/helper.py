def size(inputs):
    return inputs.get("size", 16)
