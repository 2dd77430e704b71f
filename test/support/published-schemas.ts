import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";

/** Returns what a document has that its published schema does not allow; nothing for a valid one. */
export type Violations = (document: unknown) => readonly string[];

/** Violations of `graphform schema plan`: no key is allowed that the schema does not name. */
export const planViolations: Violations = violationsOf("plan.schema.json");

/** Violations of `graphform schema events`, of one line of a stream. */
export const eventViolations: Violations = violationsOf("event.schema.json");

/** Violations of `graphform schema drift`. */
export const driftViolations: Violations = violationsOf("drift.schema.json");

/** Violations of `graphform schema validation`. */
export const validationViolations: Violations = violationsOf("validation.schema.json");

/** Violations of `graphform schema several`. */
export const severalViolations: Violations = violationsOf("several.schema.json");

/** Violations of `graphform schema replace`. */
export const replaceViolations: Violations = violationsOf("replace.schema.json");

/** Violations of `graphform schema state`. */
export const stateViolations: Violations = violationsOf("state.schema.json");

/** Violations of `graphform schema fleet`. */
export const fleetViolations: Violations = violationsOf("fleet.schema.json");

function violationsOf(file: string): Violations {
  const path = join(import.meta.dirname, "..", "..", "schemas", file);
  const isValid = new Ajv({
    allErrors: true,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    formats: { uuid: true, "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/ },
  }).compile(JSON.parse(readFileSync(path, "utf8")));
  return (document) =>
    isValid(document)
      ? []
      : (isValid.errors ?? []).map(
          ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
        );
}
