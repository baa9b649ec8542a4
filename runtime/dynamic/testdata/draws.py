from pulumi import ResourceOptions
from pulumi.dynamic import Resource, ResourceProvider, CreateResult, ReadResult
from typing import Optional
import binascii
import os
import helper


class RandomProvider(ResourceProvider):
    def create(self, inputs):
        print("drawing", inputs.get("size"))
        if inputs.get("size") == "boom":
            raise ValueError("no such size")
        if inputs.get("size") == "key":
            return {}["name"]
        if inputs.get("size") == "exit":
            import sys
            sys.exit(4)
        if inputs.get("size") == "gone":
            os._exit(5)
        return CreateResult(id_=binascii.b2a_hex(os.urandom(16)), outs={"size": helper.size(inputs)})

    def read(self, id, props):
        return ReadResult(None, {})


class Random(Resource):
    def __init__(self, name: str, opts: Optional[ResourceOptions] = None):
        super().__init__(RandomProvider(), name, {}, opts)
