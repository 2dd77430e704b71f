import { noSecrets } from "../../manifest/read-secret.ts";
import { ManifestError } from "../../model/errors.ts";
import type { Manifest, ServiceSection } from "../../model/manifest.ts";
import type { Problem } from "../../model/problem.ts";
import { projectOf, resolveProject } from "../../project/project.ts";
import { newKey } from "../../state/vault.ts";
import type { ManifestOptions } from "../options.ts";
import type { Imported } from "./declare-objects.ts";
import { addressOf, importedText, type ManifestFrame } from "./manifest-text.ts";

/** A manifest of live objects that is valid, read back from its own text. */
export interface Written {
  readonly text: string;
  readonly manifest: Manifest;
  /** How many resources it declares. */
  readonly declared: number;
  /** Address -> why it stands there as a comment. */
  readonly leftOut: ReadonlyMap<string, string>;
}

/** How often what has problems is taken out: one round for itself, one for what refers to it, and one to spare. */
const rounds = 4;

/** Writes objects as a manifest and reads it back; what has no place in a valid one becomes a comment. */
export async function writtenManifest(
  objects: readonly Imported[],
  head: Pick<ManifestFrame, "name" | "missed">,
  service: ServiceSection | undefined,
  options: Pick<ManifestOptions, "state" | "profile">,
): Promise<Written> {
  const leftOut = new Map(
    objects
      .filter((object) => object.missing.length > 0)
      .map((object) => [addressOf(object), lacking(object)]),
  );
  const known = new Set(objects.map(addressOf));
  for (let round = 1; ; round += 1) {
    const text = importedText(objects, { ...head, leftOut, ...(service === undefined ? {} : { service }) });
    try {
      const source = { path: "imported.yaml", text };
      const project = await projectOf([source], options, new Date(0).toISOString());
      const { manifest } = await resolveProject(project, { key: newKey() }, noSecrets);
      return { text, manifest, declared: manifest.desired.length, leftOut };
    } catch (error) {
      if (!(error instanceof ManifestError) || round === rounds) throw error;
      const faulty = error.problems.filter(isError).flatMap((problem) => {
        const address = problem.address ?? addressIn(problem, known);
        return address === undefined || leftOut.has(address) ? [] : [[address, problem.message] as const];
      });
      if (faulty.length === 0) throw error;
      for (const [address, message] of faulty) if (!leftOut.has(address)) leftOut.set(address, message);
    }
  }
}

function lacking({ missing }: Imported): string {
  return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} needed and not shown by the service`;
}

function isError(problem: Problem): boolean {
  return problem.severity === "error";
}

/** The address that an entry of `imports` names. */
function addressIn({ excerpt = "" }: Problem, known: ReadonlySet<string>): string | undefined {
  return [...known].find((address) => excerpt.includes(`address: ${address},`));
}
