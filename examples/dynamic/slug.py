import re

from pulumi.dynamic import CreateResult, ResourceProvider, UpdateResult


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class SlugProvider(ResourceProvider):
    """Makes a text fit for a file's name."""

    def create(self, inputs):
        return CreateResult(id_=slug(inputs["text"]), outs={"slug": slug(inputs["text"])})

    def update(self, id, olds, news):
        return UpdateResult(outs={"slug": slug(news["text"])})
