import * as fs from "node:fs";
import * as path from "node:path";

interface Note {
  title: string;
  text: string;
}

// A note is a file in this folder. Call the service of your own here instead.
const folder = "notes";
const file = (id: string) => path.join(folder, id + ".txt");

export default {
  async create(note: Note) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(file(note.title), note.text);
    return { id: note.title, outs: { ...note, path: file(note.title) } };
  },

  async read(id: string) {
    if (!fs.existsSync(file(id))) return null; // it is gone
    const note = { title: id, text: fs.readFileSync(file(id), "utf8") };
    return { id, props: { ...note, path: file(id) }, inputs: note };
  },

  async update(id: string, _olds: Note, news: Note) {
    fs.writeFileSync(file(id), news.text);
    return { outs: { ...news, path: file(id) } };
  },

  async delete(id: string) {
    fs.rmSync(file(id), { force: true });
  },
};
