// A stand-in for a cloud: it unpacks an archive into a folder of its own and runs the handler there.
import { spawnSync } from "child_process";
import { mkdtempSync, rmSync, writeFileSync } from "fs";
import { tmpdir } from "os";
import { join } from "path";

const runner = 'require(process.argv[1]).handler(JSON.parse(process.argv[2])).then((r) => console.log(JSON.stringify(r)))';

function run(inputs: any): any {
  const folder = mkdtempSync(join(tmpdir(), "function-"));
  try {
    for (const [name, member] of Object.entries<any>(inputs.code.assets)) {
      writeFileSync(join(folder, name), member.text);
    }
    const ran = spawnSync(process.execPath, ["-e", runner, join(folder, "index.js"), JSON.stringify(inputs.event)], { encoding: "utf8" });
    if (ran.status !== 0) {
      throw new Error(ran.stderr);
    }
    return { answer: JSON.parse(ran.stdout) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export default {
  create(inputs: any) {
    return { id: inputs.name, outs: { ...run(inputs), name: inputs.name } };
  },
  update(_id: string, _olds: any, news: any) {
    return { outs: { ...run(news), name: news.name } };
  },
};
