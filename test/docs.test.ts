import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";
import { pages, sources } from "../scripts/pages.ts";
import { unsaid } from "../scripts/source-tree.ts";

const root = join(import.meta.dirname, "..");
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root }).sort();

function text(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

describe("generated pages", () => {
  it.each(Object.entries(pages()))("%s is fresh (npm run emit)", (path, page) => {
    expect(text(path)).toBe(page);
  });

  it("finds something said of every source file", () => {
    expect(sources().length).toBeGreaterThan(0);
    expect(unsaid(sources())).toEqual([]);
  });
});

describe("links", () => {
  it.each(documents)("%s leads to files that exist", (path) => {
    const links = [...text(path).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g)].map(
      (match) => match[1] ?? "",
    );
    const missing = links.filter(
      (link) => globSync(posix.join(posix.dirname(path), link), { cwd: root }).length === 0,
    );
    expect(missing).toEqual([]);
  });
});

describe("decisions", () => {
  const decisions = documents.filter((path) => path.startsWith("docs/decisions/"));

  it("are numbered without a gap, and listed nowhere twice", () => {
    const numbers = decisions.map((path) => Number(/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it.each(decisions)("%s says context, choice, consequences and alternatives in at most 40 lines", (path) => {
    const page = text(path);
    expect(page.split("\n").length - 1).toBeLessThanOrEqual(40);
    for (const part of ["Context", "Choice", "Consequences", "Alternatives"])
      expect(page).toContain(`## ${part}\n`);
  });

  it("name every dependency", () => {
    const { devDependencies }: { devDependencies: object } = JSON.parse(text("package.json"));
    const page = text("docs/decisions/0003-dependencies.md");
    expect(Object.keys(devDependencies).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
