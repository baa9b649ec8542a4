import * as fs from "fs";
import { label } from "./words";

// A cloud of files: each object is one file in the folder that the configuration names.
export default class {
  dir = "";
  configure(req: any) {
    this.dir = req.config.require("cloud");
  }
  check(_olds: any, news: any) {
    if (news.color === "pink") return { failures: [{ property: "color", reason: "pink is not sold here" }] };
    return { inputs: { ...news, color: news.color ?? "white" } };
  }
  async create(inputs: any) {
    console.log("making " + inputs.name);
    if (inputs.name === "boom") throw new Error("the cloud is full");
    if (inputs.name === "half") throw Object.assign(new Error("not healthy"), { id: "half", properties: inputs, reasons: ["not healthy"] });
    if (inputs.name === "exit") process.exit(3);
    if (inputs.name === "abort") process.abort();
    if (inputs.name === "loop") for (;;);
    if (inputs.name === "later") { setTimeout(() => { throw new Error("behind your back"); }, 5); return new Promise(() => {}); }
    if (inputs.name === "odd") return "a word";
    if (inputs.name === "nameless") return { outs: {} };
    fs.writeFileSync(this.dir + "/" + inputs.name, JSON.stringify(inputs));
    return { id: inputs.name, outs: { ...inputs, url: label(inputs.name), nothing: undefined } };
  }
  diff(_id: string, olds: any, news: any) {
    return { changes: olds.color !== news.color, replaces: olds.name !== news.name ? ["name"] : [], deleteBeforeReplace: true };
  }
  async update(id: string, _olds: any, news: any) {
    fs.writeFileSync(this.dir + "/" + id, JSON.stringify(news));
    return { outs: { ...news, url: label(id) } };
  }
  async read(id: string, _props: any) {
    if (id === "nameless") return { id: undefined, props: {} };
    if (!fs.existsSync(this.dir + "/" + id)) return null;
    const props = JSON.parse(fs.readFileSync(this.dir + "/" + id, "utf8"));
    return { id, props: { ...props, url: label(id) }, inputs: props };
  }
  delete(id: string, _props: any) {
    fs.unlinkSync(this.dir + "/" + id);
  }
}

export const plain = { create: (inputs: any) => ({ id: 17, outs: inputs }) };
