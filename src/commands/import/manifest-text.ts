/** @module Writes declared objects as a valid manifest in YAML. */
import { isManifestError } from "../../model/errors.ts";
import { isObject, type JsonObject } from "../../model/json.ts";
import type { LeftOut } from "../../model/kind.ts";
import type { Manifest } from "../../model/manifest.ts";
import { nest } from "../../model/spec.ts";
import { schemaLine } from "../../project/package-files.ts";
import { checkedManifest, projectOf } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import { escapeText } from "../../report/typeset.ts";
import { importEntry, yamlScalar } from "../../report/view/plan-view.ts";
import type { ManifestOptions } from "../with-run.ts";
import type { DeclaredObject } from "./declare-objects.ts";

interface ManifestParts {
  readonly name: string;
  /** Objects that were not read, with the reason. */
  readonly unread: readonly LeftOut[];
  /** Empty for the local platform. */
  readonly service: JsonObject;
  /** The section about the location of the state, as an earlier manifest has it. */
  readonly state: JsonObject;
  /** Address of each object that becomes a comment -> the reason. */
  readonly leftOut: ReadonlyMap<string, string>;
}

function addressOf({ kind, name }: DeclaredObject): string {
  return `${kind.name}.${name}`;
}

/** The manifest as YAML; an object that cannot be declared becomes a comment with its reason. */
function manifestText(objects: readonly DeclaredObject[], parts: ManifestParts): string {
  const sections = [...new Set(objects.map((object) => object.kind.name))];
  const imports = objects.filter((object) => object.spec["id"] !== object.id);
  const isNone = imports.every((object) => parts.leftOut.has(addressOf(object)));
  return [
    schemaLine("."),
    "# Written by graphform import --all from the live objects. A field that is left out is not managed.",
    ...parts.unread.map(({ what, reason }) => `# Left out: ${comment(what)}: ${comment(reason)}`),
    "apiVersion: graphform/v1",
    `name: ${yamlScalar(parts.name)}`,
    ...Object.entries({ service: parts.service, state: parts.state }).flatMap(([key, section]) =>
      Object.keys(section).length === 0 ? [] : ["", `${key}:`, ...mapLines(section, 1)],
    ),
    ...sections.flatMap((section) => ["", ...sectionLines(section, objects, parts)]),
    ...(imports.length === 0 ? [] : ["", isNone ? "# imports:" : "imports:"]),
    ...imports.map((object) => {
      const entry = importEntry(addressOf(object), object.id);
      return `  ${parts.leftOut.has(addressOf(object)) ? "# " : ""}${entry}`;
    }),
    "",
  ].join("\n");
}

function sectionLines(
  section: string,
  objects: readonly DeclaredObject[],
  { leftOut }: ManifestParts,
): readonly string[] {
  const sectionObjects = objects.filter((object) => object.kind.name === section);
  const isEmpty = sectionObjects.every((object) => leftOut.has(addressOf(object)));
  const blocks = sectionObjects.map((object) => {
    const reason = leftOut.get(addressOf(object));
    const lines = [
      `  ${yamlScalar(object.name)}:`,
      ...object.notes.map((note) => `    # ${comment(note)}`),
      ...mapLines(nest(object.spec), 2),
    ];
    if (reason === undefined) return lines;
    return [`  # left out, since ${comment(reason)}:`, ...lines.map((line) => `  # ${line.slice(2)}`)];
  });
  return [isEmpty ? `# ${section}:` : `${section}:`, ...blocks.flat()];
}

function mapLines(map: JsonObject, depth: number): readonly string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const head = `${"  ".repeat(depth)}${yamlScalar(key)}:`;
    if (isObject(value)) return [head, ...mapLines(value, depth + 1)];
    return [`${head} ${Array.isArray(value) ? JSON.stringify(value) : yamlScalar(value)}`];
  });
}

function comment(text: string): string {
  return escapeText(text, 400);
}

export interface Written {
  readonly text: string;
  readonly manifest: Manifest;
  readonly declared: number;
  /** Address -> the reason why the object is a comment. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Rounds that remove invalid objects at most: one for the object, one for those that refer to it, two in reserve. */
const maxRounds = 4;

/** Writes objects as a manifest and validates it; an object with a problem becomes a comment. Throws `ManifestError`. */
export async function writtenManifest(
  objects: readonly DeclaredObject[],
  head: Omit<ManifestParts, "leftOut">,
  options: Pick<ManifestOptions, "state" | "profile">,
  settings: Settings,
): Promise<Written> {
  const leftOut = new Map(
    objects
      .filter(({ missing }) => missing.length > 0)
      .map((object) => {
        const { missing } = object;
        const are = missing.length === 1 ? "is" : "are";
        return [addressOf(object), `${missing.join(", ")} ${are} required, but not shown by the service`];
      }),
  );
  const known = objects.map(addressOf);
  for (let round = 1; ; round += 1) {
    const text = manifestText(objects, { ...head, leftOut });
    try {
      const source = { path: "imported.yaml", text };
      const project = await projectOf([source], options, new Date(0).toISOString(), settings);
      const manifest = await checkedManifest(project);
      return { text, manifest, declared: manifest.desired.length, leftOut };
    } catch (error) {
      if (!isManifestError(error) || round === maxRounds) throw error;
      const errors = error.problems.filter(({ severity }) => severity === "error");
      const faulty = errors.flatMap((problem) => {
        const { excerpt = "", address = known.find((entry) => excerpt.includes(`address: ${entry},`)) } =
          problem;
        return address === undefined || leftOut.has(address) ? [] : [[address, problem.message] as const];
      });
      if (faulty.length === 0) throw error;
      for (const [address, message] of faulty) if (!leftOut.has(address)) leftOut.set(address, message);
    }
  }
}
