import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const sources = globSync("src/**/*.ts", { cwd: root }).filter((path) => !path.includes(".generated."));
const files = sources.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Lines of comments, and of texts for people, that still have a word. Each number may only fall: lower it after a change that removes some. */
const ceilings = { nobody: 0, nobodyInTexts: 3, where: 5 };

/** Words before a "where" that means a place, or that asks for one. */
const beforePlace =
  /^(file|folder|place|point|line|path|address|key|table|row|list|column|store|page|document|position|directory|one|machine|region|state|from|of|to|on|in|at|and|or|is|says|say|said|know|knows|shows|tells|see|beyond|until|anywhere|exactly|only)$/i;

const comments = files.flatMap(({ path, text }) =>
  text.split("\n").flatMap((line, at) => {
    const said = /^\s*(?:\/\*\*|\*|\/\/)(.*)/.exec(line)?.[1] ?? /\s(\/\/\s.*)/.exec(line)?.[1];
    return said === undefined ? [] : [{ place: `${path}:${at + 1}`, said }];
  }),
);

function placesOf(isMeant: (said: string) => boolean): readonly string[] {
  return comments.filter(({ said }) => isMeant(said)).map(({ place }) => place);
}

/** True if a line says "where" and does not mean a place. Nearly right: a sentence that begins in the line before counts too. */
function saysWhereForIf(said: string): boolean {
  return [...said.matchAll(/(\w+)?[,;:(]?\s*\bwhere\b/gi)].some(
    ([, before]) => !beforePlace.test(before ?? ""),
  );
}

describe("the words of comments", () => {
  it("finds the comments", () => expect(comments.length).toBeGreaterThan(1000));

  it("begin with a subject: no doc comment begins with What, Where, Whether, How or Who", () => {
    const wrong = files.flatMap(({ path, text }) =>
      [...text.matchAll(/\/\*\*[\s*]*(?:@module )?(What|Where|Whether|How|Who)\b[^\n]*/g)].map(
        ([said]) => `${path}: ${said}`,
      ),
    );
    expect(wrong).toEqual([]);
  });

  it("say nobody and somebody in no more places than before", () => {
    const found = placesOf((said) => /\b(nobody|somebody)\b/i.test(said));
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(ceilings.nobody);
  });

  it("of texts for people say nobody and somebody in no more places than before", () => {
    const found = files.flatMap(({ path, text }) =>
      text
        .split("\n")
        .flatMap((line, at) => (/["`][^"`]*\b(nobody|somebody)\b/i.test(line) ? [`${path}:${at + 1}`] : [])),
    );
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(ceilings.nobodyInTexts);
  });

  it("say where for if in no more places than before", () => {
    const found = placesOf(saysWhereForIf);
    expect(found.length, found.join("\n")).toBeLessThanOrEqual(ceilings.where);
  });
});
