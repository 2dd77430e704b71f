import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whose a package is that is under the MIT licence and ships without its text; from its repository or its readme. */
const holders: { readonly [name: string]: string } = {
  "@nodable/entities": "Copyright (c) Amit Gupta (https://solothought.com)",
  "@redis/client": "Copyright (c) 2022-2025, Redis, inc.",
  "pg-types": "Copyright (c) 2014 Brian M. Carlson",
  pgpass: "Copyright (c) 2013-2016 Hannes Hörl",
};

/** Folders of the packages that bundled files come from, sorted. */
export function bundledPackages(inputs: readonly string[]): readonly string[] {
  const shape = /^node_modules\/(.*node_modules\/)?(@[^/]+\/)?[^/]+/;
  return [...new Set(inputs.flatMap((input) => shape.exec(input)?.[0] ?? []))].sort();
}

/**
 * The licences that must go wherever the bundle goes: for each package its name, version and licence text.
 * Throws for a package whose terms nobody has.
 */
export function noticesOf(root: string, folders: readonly string[]): string {
  const parts = folders.map((folder) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const { name, version, license } = manifest;
    return `${name} ${version} (${license})\n\n${licenceText(root, folder, manifest)}\n`;
  });
  return `graphform's programs contain these packages.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

function licenceText(root: string, folder: string, { name, license }: Manifest): string {
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  if (file !== undefined) return readFileSync(join(root, folder, file), "utf8").trim();
  const holder = holders[name];
  if (holder === undefined || license !== "MIT")
    throw new Error(`no licence text for ${name}: it cannot be bundled`);
  const own = readFileSync(join(root, "LICENSE"), "utf8");
  return `MIT License\n\n${holder}\n\n${own.slice(own.indexOf("Permission is")).trim()}`;
}
