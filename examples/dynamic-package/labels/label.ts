interface Label { name: string; color: string; token?: string }

// An object that has nothing behind it: the state alone remembers it.
export default class {
  private host = "labels.example";

  configure(req: any) {
    this.host = req.config.get("host") ?? this.host; // labels:host of the stack's configuration
  }

  async check(olds: Label, news: Label) {
    const failures = [];
    if (typeof news.color === "string" && !/^[0-9a-f]{6}$/.test(news.color)) {
      failures.push({ property: "color", reason: "a colour has six digits, such as d94f0b" });
    }
    return { inputs: news, failures };
  }

  async create(inputs: Label) {
    return { id: "label-" + inputs.name, outs: { ...inputs, url: `https://${this.host}/${inputs.name}` } };
  }

  async update(id: string, olds: Label & { url: string }, news: Label) {
    return { outs: { ...news, url: olds.url } };
  }

  async read(id: string, props: any) {
    return { id, props };
  }
}
