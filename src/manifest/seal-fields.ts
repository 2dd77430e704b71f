/** @module Seals the secret fields of a resource. */
import type { Json } from "../model/json.ts";
import { isReference, isSealed, isTemplate, type Sealed, type TemplatePart } from "../model/sealed.ts";
import type { Member } from "./declared-resources.ts";
import type { Fault, Report } from "./problems/fault.ts";
import { secretPaths } from "./schema/shape.ts";
import { openSources, type Secrets, textOn } from "./secrets.ts";
import { holdsUnresolved } from "./values.ts";

/** Seals every text in the secret fields of `spec`, in place, also beside an output that is not known yet: each part is secret. */
export function sealFields(
  spec: Record<string, Json>,
  member: Member,
  secrets: Secrets,
  report: Report,
): void {
  for (const path of secretPaths(member.block.kind.schema)) {
    const value = spec[path];
    if (value === undefined) continue;
    const fault = shownFault(value, path, member);
    if (fault !== undefined) {
      report.error(path.split("."), fault);
      continue;
    }
    const sealed = sealTexts(value, `${member.address} ${path}`, secrets);
    spec[path] = sealed;
    if (!standsInManifest(value, sealed, path, member)) continue;
    const hint = "declare it under secrets and write ${secret.name}, or write ${env.NAME}";
    const message = `${path} is not taken from a secret: everybody who reads the manifest can read it`;
    report.warning(path.split("."), { code: "secret-literal", message, hint });
  }
}

/** Parts of a `forEach` iteration that are a whole secret field: `value.password`. */
export function secretPartsOf({ block }: Member): ReadonlySet<string> {
  const parts = [...secretPaths(block.kind.schema)].flatMap((path) => {
    const found = textOn(block.body, path);
    const [only] = openSources(found?.text ?? "");
    return only?.scope === "each" && only.text === found?.text ? [only.keys.join(".")] : [];
  });
  return new Set(parts.filter((part) => part !== "key"));
}

/** The fault of a value that is shown elsewhere: an output, or the key of an address. */
function shownFault(value: Json, path: string, { each, block }: Member): Fault | undefined {
  if (isTemplate(value) && value.$template.length > 0 && value.$template.every(isReference)) {
    const hint = "write ${secret.name} or ${env.NAME}; an output can stand beside one of them";
    return { code: "secret-in-clear", message: `${path} is an output, which is stored and shown`, hint };
  }
  const [only] = openSources(textOn(block.body, path)?.text ?? "");
  if (each === undefined || only?.scope !== "each" || value !== each.key) return undefined;
  const message = `${path} is ${only.text}, which is part of the address`;
  return { code: "secret-in-clear", message, hint: "write ${secret.name} or ${env.NAME}" };
}

function sealTexts(value: Json, label: string, secrets: Secrets): Json {
  if (typeof value === "string" && value !== "") return secrets.seal(value, label);
  if (!isTemplate(value)) return value;
  const parts: TemplatePart[] = [];
  let pieces: (string | Sealed)[] = [];
  const close = (): void => {
    const [only] = pieces;
    const isSealedAlready = pieces.length === 1 && isSealed(only);
    if (pieces.length > 0)
      parts.push(isSealedAlready ? only : secrets.sealWhole(pieces, `${label} part ${parts.length + 1}`));
    pieces = [];
  };
  for (const part of value.$template) {
    if (typeof part === "string" || isSealed(part)) pieces.push(part);
    else {
      close();
      parts.push(part);
    }
  }
  close();
  return { $template: parts };
}

/** True if the secret is a text of the manifest or a variable, without any declared secret in it. */
function standsInManifest(value: Json, sealed: Json, path: string, { block }: Member): boolean {
  if (sealed !== value && typeof value === "string") return true;
  const { text } = textOn(block.body, path) ?? {};
  if (text === undefined) return false;
  return isSealed(value)
    ? openSources(text).length > 0
    : isTemplate(value) && !holdsUnresolved(value) && !value.$template.some(isSealed);
}
