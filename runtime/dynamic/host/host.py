# Runs a dynamic provider written in Python. Requests come as lines of JSON on descriptor 3, answers go as lines on
# descriptor 4, or on pipes that the environment names; standard output and standard error are the author's. Four calls
# run at a time.
import asyncio
import contextvars
import importlib.abc
import importlib.util
import inspect
import io
import json
import os
import sys
import threading
import traceback
import types
from concurrent.futures import ThreadPoolExecutor

if sys.version_info < (3, 9):
    sys.stderr.write("dynamic providers need Python 3.9 or newer, this is %s\n" % sys.version.split()[0])
    sys.exit(3)

UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
MAX_ANSWER = 64 << 20
current = contextvars.ContextVar("call", default=0)
requests, answers = 3, 4
pipes = os.environ.pop("YAMLHOST_DYNAMIC_PIPES", None)
if pipes:
    requests = os.open(pipes + "-requests", os.O_RDONLY | getattr(os, "O_BINARY", 0))
    answers = os.open(pipes + "-answers", os.O_WRONLY | getattr(os, "O_BINARY", 0))
out = os.fdopen(answers, "wb", buffering=0)
out_lock = threading.Lock()
done = set()


class _Unknown:
    def __repr__(self):
        return "<unknown>"


UNKNOWN = _Unknown()


def write(data):
    with out_lock:
        view = memoryview(data)
        while view:
            view = view[out.write(view):]


def send(message):
    write(json.dumps(message, default=plain).encode() + b"\n")


def plain(v):
    if v is UNKNOWN:
        return UNKNOWN_TEXT
    if isinstance(v, (bytes, bytearray)):
        return bytes(v).decode()
    if isinstance(v, (set, tuple)):
        return list(v)
    raise TypeError("%s is no JSON" % type(v).__name__)


class Lines(io.TextIOBase):
    """What the author prints, as log lines of the call that prints it."""

    def __init__(self, severity):
        self.severity, self.rest = severity, {}

    def writable(self):
        return True

    def write(self, text):
        n = current.get()
        lines = (self.rest.pop(n, "") + text).split("\n")
        if lines[-1]:
            self.rest[n] = lines[-1]
        for line in lines[:-1]:
            send({"n": n, "log": line, "severity": self.severity})
        return len(text)

    def close_call(self, n):
        if self.rest.get(n):
            send({"n": n, "log": self.rest.pop(n), "severity": self.severity})


class Config:
    def __init__(self, project, values):
        self._project, self._values = project, values

    def get(self, key, default=None):
        return self._values.get(key if ":" in key else self._project + ":" + key, default)

    def require(self, key):
        text = self.get(key)
        if text is None:
            raise KeyError('missing required configuration key "%s": run yamlhost config set %s' % (key, key))
        return text

    def get_bool(self, key):
        text = self.get(key)
        return None if text is None else text == "true"

    def get_int(self, key):
        text = self.get(key)
        return None if text is None else int(text)

    def get_object(self, key):
        text = self.get(key)
        return None if text is None else json.loads(text)

    def require_object(self, key):
        return json.loads(self.require(key))

    __getitem__ = require


class ConfigureRequest:
    def __init__(self, config):
        self.config = config


class CheckFailure:
    def __init__(self, property, reason):
        self.property, self.reason = property, reason


class CheckResult:
    def __init__(self, inputs, failures=()):
        self.inputs, self.failures = inputs, list(failures or ())


class DiffResult:
    def __init__(self, changes=None, replaces=None, stables=None, delete_before_replace=None):
        self.changes, self.replaces, self.stables = changes, replaces, stables
        self.delete_before_replace = delete_before_replace


class CreateResult:
    def __init__(self, id_, outs=None):
        self.id, self.outs = id_, outs


class ReadResult:
    def __init__(self, id_=None, outs=None, inputs=None):
        self.id, self.outs, self.inputs = id_, outs, inputs


class UpdateResult:
    def __init__(self, outs=None):
        self.outs = outs


class ResourceProvider:
    """The base class of providers; every method but create may be left out."""

    def __init__(self):
        pass


class Resource:
    """A stand-in: the program that declares resources is YAML."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        return None


def stand_ins():
    """Gives modules pulumi and pulumi.dynamic where they are not installed."""
    if importlib.util.find_spec("pulumi") is not None:
        return

    class Anything:
        def __class_getitem__(cls, item):
            return cls

        def __init__(self, *args, **kwargs):
            pass

    pulumi, dynamic = types.ModuleType("pulumi"), types.ModuleType("pulumi.dynamic")
    for name in ("Input", "Output", "ResourceOptions", "InvokeOptions", "Alias", "CustomTimeouts", "Inputs"):
        setattr(pulumi, name, type(name, (Anything,), {}))
    pulumi.Resource = pulumi.CustomResource = pulumi.ComponentResource = Resource
    pulumi.export = lambda name, value: None
    pulumi.Config = Config
    for cls in (Resource, ResourceProvider, CheckFailure, CheckResult, DiffResult, CreateResult, ReadResult,
                UpdateResult, ConfigureRequest, Config):
        setattr(dynamic, cls.__name__, cls)
    pulumi.dynamic = dynamic
    pulumi.__path__ = []
    sys.modules["pulumi"], sys.modules["pulumi.dynamic"] = pulumi, dynamic


class Files(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports from the bundle, as if its files stood in the folder they came from."""

    def __init__(self, files, base):
        self.files, self.base = files, base

    def find_spec(self, name, path=None, target=None):
        place = self.base + name.replace(".", "/")
        for file, package in ((place + "/__init__.py", True), (place + ".py", False)):
            if file in self.files:
                spec = importlib.util.spec_from_loader(name, self, is_package=package, origin=file)
                spec.loader_state = file
                return spec
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        file = module.__spec__.loader_state
        module.__file__ = file
        exec(compile(self.files[file], file, "exec"), module.__dict__)


modules = {}
providers = {}


def load(args):
    bundle = json.loads(args["code"])
    entry = bundle["entry"]
    base = entry[: entry.rfind("/") + 1]
    stand_ins()
    sys.meta_path.insert(0, Files(bundle["files"], base))
    module = types.ModuleType("dynamic_provider")
    module.__file__ = entry
    sys.modules["dynamic_provider"] = module
    exec(compile(bundle["files"][entry], entry, "exec"), module.__dict__)
    modules["entry"], modules["file"] = module, entry


def is_provider(v):
    return inspect.isclass(v) and callable(getattr(v, "create", None)) and v.__module__ == "dynamic_provider"


def pick(name):
    module, file = modules["entry"], modules["file"]
    if name:
        if not hasattr(module, name):
            raise AttributeError("%s has no %s" % (file, name))
        return getattr(module, name)
    found = [v for v in vars(module).values() if is_provider(v)]
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        names = ", ".join(sorted(v.__name__ for v in found))
        raise AttributeError("%s has several providers (%s): write provider: ./%s:NAME" % (file, names, file))
    if callable(getattr(module, "create", None)):
        return module
    raise AttributeError("%s has no provider: it needs a class with a method create" % file)


METHODS = ("check", "diff", "create", "read", "update", "delete")


def own(p, m):
    """Whether the author wrote the method, and did not only inherit it from the SDK's base class."""
    f = getattr(p, m, None)
    return callable(f) and not getattr(getattr(f, "__func__", f), "__module__", "").startswith("pulumi.")


def wait(v):
    return asyncio.run(v) if inspect.iscoroutine(v) else v


def configure(args):
    p = pick(args.get("export"))
    if inspect.isclass(p):
        p = p()
    if own(p, "configure"):
        wait(p.configure(ConfigureRequest(Config(args["project"], args["config"]))))
    providers[args.get("export") or ""] = p
    others = [m for m in dir(type(p)) if not m.startswith("_") and m not in METHODS + ("configure",) and own(p, m)]
    return {"methods": [m for m in METHODS + ("configure",) if own(p, m)], "others": others, "preview": getattr(p, "preview", None) is True}


def known(v):
    if v == UNKNOWN_TEXT:
        return UNKNOWN
    if isinstance(v, list):
        return [known(x) for x in v]
    if isinstance(v, dict):
        return {k: known(x) for k, x in v.items()}
    return v


def record(v):
    """Turns a result object of any origin into the map that it stands for."""
    if v is None or isinstance(v, dict):
        return v
    fields = {k.rstrip("_"): x for k, x in vars(v).items() if not k.startswith("_") and x is not None}
    if "delete_before_replace" in fields:
        fields["deleteBeforeReplace"] = fields.pop("delete_before_replace")
    if "failures" in fields:
        fields["failures"] = [record(f) for f in fields["failures"]]
    return fields


def run(m, a):
    if m == "load":
        return load(a)
    if m == "configure":
        return configure(a)
    p = providers[a.get("export") or ""]
    more = [{"preview": True}] if a.get("preview") else []
    if m == "check":
        return record(wait(p.check(known(a["olds"]), known(a["news"]))))
    if m == "diff":
        return record(wait(p.diff(a["id"], a["olds"], known(a["news"]))))
    if m == "create":
        return record(wait(p.create(known(a["inputs"]), *more)))
    if m == "update":
        return record(wait(p.update(a["id"], a["olds"], known(a["news"]), *more)))
    if m == "read":
        return record(wait(p.read(a["id"], a["props"])))
    if m == "delete":
        wait(p.delete(a["id"], a["props"]))
        return None
    raise AttributeError("unknown method " + m)


def answer(n, message):
    message["n"] = n
    try:
        data = json.dumps(message, default=plain, allow_nan=False).encode()
        if len(data) > MAX_ANSWER:
            raise ValueError("it is larger than 64 MiB")
    except (TypeError, ValueError, UnicodeDecodeError) as e:
        data = json.dumps({"n": n, "error": "the answer is no JSON: %s" % e, "bad": True}).encode()
    write(data + b"\n")


def begin(request):
    n = request["n"]
    current.set(n)
    send({"n": n, "begun": True})
    try:
        message = {"ok": run(request["m"], request["a"])}
    except BaseException as e:  # an exit of the author's code is a failure of its call
        text = str(e)
        if isinstance(e, SystemExit):
            text = "the code called sys.exit(%s)" % ("" if e.code is None else e.code)
        elif not text:
            text = type(e).__name__
        elif type(e) is not Exception and not hasattr(e, "properties") and not hasattr(e, "reasons"):
            text = "%s: %s" % (type(e).__name__, text)
        message = {"error": text, "stack": traceback.format_exc()}
        for field in ("id", "properties", "reasons"):
            if hasattr(e, field):
                message[field] = getattr(e, field)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Lines):
            stream.close_call(n)
    answer(n, message)


def main():
    sys.stdout, sys.stderr = Lines("info"), Lines("warning")
    pool = ThreadPoolExecutor(max_workers=4)
    with os.fdopen(requests, "rb") as lines:
        for line in lines:
            request = json.loads(line)
            if request["m"] in ("load", "configure"):
                begin(request)
            else:
                pool.submit(contextvars.Context().run, begin, request)
    os._exit(0)


main()
