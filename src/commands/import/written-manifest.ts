/** @module Writes live objects as a valid manifest and reads it back. */

import { ManifestError } from "../../model/errors.ts";
import { defined } from "../../model/json.ts";
import type { Manifest, ServiceSection } from "../../model/manifest.ts";
import type { Problem } from "../../model/problem.ts";
import { checkedManifest, projectOf } from "../../project/project.ts";
import type { Settings } from "../../project/settings.ts";
import type { ManifestOptions } from "../options.ts";
import type { DeclaredObject } from "./declare-objects.ts";
import { addressOf, type ManifestParts, manifestText } from "./manifest-text.ts";

/** A valid manifest of live objects. */
export interface Written {
  readonly text: string;
  readonly manifest: Manifest;
  /** Number of declared resources. */
  readonly declared: number;
  /** Address -> the reason why the object is a comment. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** Limit of rounds that remove invalid objects: one for the object, one for those that refer to it, two in reserve. */
const maxRounds = 4;

/** Writes objects as a manifest and validates it; an object with a problem becomes a comment. Throws `ManifestError`. */
export async function writtenManifest(
  objects: readonly DeclaredObject[],
  head: Pick<ManifestParts, "name" | "unread" | "state">,
  service: ServiceSection | undefined,
  options: Pick<ManifestOptions, "state" | "profile">,
  settings: Settings,
): Promise<Written> {
  const leftOut = new Map(
    objects
      .filter((object) => object.missing.length > 0)
      .map((object) => [addressOf(object), missingText(object)]),
  );
  const known = new Set(objects.map(addressOf));
  for (let round = 1; ; round += 1) {
    const text = manifestText(objects, { ...head, leftOut, ...defined({ service }) });
    try {
      const source = { path: "imported.yaml", text };
      const project = await projectOf([source], options, new Date(0).toISOString(), settings);
      const manifest = await checkedManifest(project);
      return { text, manifest, declared: manifest.desired.length, leftOut };
    } catch (error) {
      if (!(error instanceof ManifestError) || round === maxRounds) throw error;
      const faulty = error.problems.filter(isError).flatMap((problem) => {
        const address = problem.address ?? addressIn(problem, known);
        return address === undefined || leftOut.has(address) ? [] : [[address, problem.message] as const];
      });
      if (faulty.length === 0) throw error;
      for (const [address, message] of faulty) if (!leftOut.has(address)) leftOut.set(address, message);
    }
  }
}

function missingText({ missing }: DeclaredObject): string {
  return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} required, but not shown by the service`;
}

function isError(problem: Problem): boolean {
  return problem.severity === "error";
}

/** The address in an entry of `imports`. */
function addressIn({ excerpt = "" }: Problem, known: ReadonlySet<string>): string | undefined {
  return [...known].find((address) => excerpt.includes(`address: ${address},`));
}
