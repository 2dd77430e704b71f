import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/** What string-width and wrap-ansi make as they are loaded, and what makes it when a text needs it first. */
const late: readonly (readonly [early: string, late: string])[] = [
  [
    "const segmenter = new Intl.Segmenter();",
    "let made; const segmenter = { segment: (text) => (made ??= new Intl.Segmenter()).segment(text) };",
  ],
  [
    "const rgiEmojiRegex = /^\\p{RGI_Emoji}$/v;",
    "let emoji; const rgiEmojiRegex = { test: (text) => (emoji ??= /^\\p{RGI_Emoji}$/v).test(text) };",
  ],
];

/** Bundles string-width and wrap-ansi without what takes longer at each start than all else that a command evaluates: text of ASCII needs none of it. */
export const lateUnicode: Plugin = {
  name: "late unicode",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/](string-width|wrap-ansi)[\\/]index\.js$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const contents = late.reduce((text, [early, instead]) => text.replace(early, () => instead), source);
      if (contents === source) throw new Error(`${path} makes nothing that scripts/late-unicode.ts knows`);
      return { contents };
    });
  },
};
