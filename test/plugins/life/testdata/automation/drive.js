// Drives a YAML project through its life by Pulumi's automation package, and prints what it sees: a name and JSON a line.
// Arguments: the project's folder, the backend's.
const { LocalWorkspace } = require("@pulumi/pulumi/automation");

const say = (name, value) => console.log(name, JSON.stringify(value));

async function main(workDir, backend) {
  const envVars = { PULUMI_CONFIG_PASSPHRASE: "", PULUMI_BACKEND_URL: "file://" + backend };
  const stack = await LocalWorkspace.createOrSelectStack({ stackName: "dev", workDir }, { envVars });
  say("who", Object.keys(await stack.workspace.whoAmI()).sort());

  await stack.setConfig("size", { value: "3" });
  await stack.setAllConfig({ colour: { value: "red" }, pw: { value: "hunter2", secret: true } });
  await stack.setAllConfig({ "deep.key": { value: "x" } }, true);
  say("configuration", await stack.getAllConfig());
  say("one value", await stack.getConfig("pw"));
  await stack.removeConfig("colour");
  await stack.removeAllConfig(["deep"]);
  say("configuration after removals", Object.keys(await stack.getAllConfig()).sort());
  await stack.setTag("team", "web");
  say("tag", await stack.getTag("team"));
  await stack.removeTag("team");

  // Messages differ from program to program.
  let kinds = new Set();
  const onEvent = e => Object.keys(e).filter(k => k.endsWith("Event") && k !== "diagnosticEvent").forEach(k => kinds.add(k));
  const operation = async (name, run) => {
    kinds = new Set();
    say(name, await run({ onEvent }));
    say(name + ": events", [...kinds].sort());
  };
  await operation("preview", async o => (await stack.preview(o)).changeSummary);
  await operation("up", async o => {
    const r = await stack.up(o);
    return [r.summary.kind, r.summary.result, r.summary.resourceChanges, r.outputs];
  });
  say("outputs", await stack.outputs());
  await operation("up again", async o => (await stack.up(o)).summary.resourceChanges);
  await operation("refresh", async o => (await stack.refresh(o)).summary.result);

  const state = await stack.exportStack();
  say("export", [state.version, state.deployment.resources.map(r => r.type)]);
  await stack.importStack(state);
  say("history", (await stack.history(10, 1)).map(h => [h.kind, h.result]));
  say("info", (await stack.info()).kind);
  say("stacks", (await stack.workspace.listStacks()).map(s => [s.name, s.current, s.resourceCount]));
  say("plugins", Array.isArray(await stack.workspace.listPlugins()));
  say("cancel", await stack.cancel().then(() => "done", e => e.constructor.name));
  await operation("destroy", async o => {
    const r = await stack.destroy(o);
    return [r.summary.kind, r.summary.result, r.summary.resourceChanges];
  });
  await stack.workspace.removeStack("dev");
  say("stacks at the end", (await stack.workspace.listStacks()).length);
  const none = LocalWorkspace.selectStack({ stackName: "nowhere", workDir }, { envVars });
  say("a stack that is none", await none.then(() => "found", e => e.constructor.name));
}

main(...process.argv.slice(2)).catch(e => {
  console.error(e.message || e);
  process.exit(1);
});
