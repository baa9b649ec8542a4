// Drives a project by Pulumi's automation package for Node.js, and prints what it sees: a name and JSON a line.
// Arguments: the project's folder, the backend's.
const { LocalWorkspace } = require("@pulumi/pulumi/automation");

const say = (name, value) => console.log(name, JSON.stringify(value));
const failure = promise => promise.then(() => "done", e => e.constructor.name);

async function main(workDir, backend) {
  const envVars = { PULUMI_CONFIG_PASSPHRASE: "x", PULUMI_BACKEND_URL: "file://" + backend };
  const create = stackName => LocalWorkspace.createStack({ stackName, workDir }, { envVars });
  const stack = await create("dev");
  const ws = stack.workspace;
  say("created twice", await failure(create("dev")));
  await create("other");
  say("renamed onto another", await failure(stack.rename({ stackName: "other" })));
  say("selected", await failure(LocalWorkspace.selectStack({ stackName: "nowhere", workDir }, { envVars })));
  say("settings", Object.keys(await ws.stackSettings("dev")).sort());
  say("new stacks", (await ws.listStacks()).map(s => [s.name, s.current, typeof s.lastUpdate, s.resourceCount]));
  await ws.selectStack("dev");

  await stack.setConfig("size", { value: "4" });
  say("absent keys", await failure(stack.removeAllConfig(["size", "absent"])));
  say("absent key", await failure(stack.removeConfig("absent")));
  say("configuration", Object.keys(await stack.getAllConfig()));
  say("absent tag", await failure(stack.removeTag("absent")));
  say("absent plugin", await failure(ws.removePlugin("nowhere", "9.9.9")));

  // Texts differ from program to program, and so do diagnostics.
  const operation = async (name, run) => {
    let output = "", errors = "", kinds = [];
    const onEvent = e => Object.keys(e).filter(k => /^(prelude|summary|cancel)Event$/.test(k)).forEach(k => kinds.push(k));
    say(name, await run({ onEvent, onOutput: text => { output += text; }, onError: text => { errors += text; } }));
    say(name + ": streams", [output !== "", errors, /Outputs:[^]*Resources:/.test(output)]);
    say(name + ": events", kinds);
  };
  await operation("preview", async o => (await stack.preview(o)).changeSummary);
  await operation("up", async o => {
    const r = await stack.up(o);
    return [r.stderr, r.summary.version, r.summary.kind, r.summary.result, r.summary.resourceChanges, r.outputs,
      r.summary.environment["exec.kind"], (r.summary.environment["exec.agent"] || "").split("/")[0]];
  });
  await operation("up without changes", async o => (await stack.up({ ...o, expectNoChanges: true })).summary.resourceChanges);
  await operation("refresh", async o => (await stack.refresh(o)).summary.result);
  say("export", Object.keys((await stack.exportStack()).deployment).filter(k => k !== "pending_operations").sort());
  await operation("destroy", async o => (await stack.destroy(o)).summary.resourceChanges);
  for (const name of ["dev", "other"]) await ws.removeStack(name);
  say("stacks at the end", (await ws.listStacks()).length);
}

main(...process.argv.slice(2)).catch(e => {
  console.error(e.message || e);
  process.exit(1);
});
