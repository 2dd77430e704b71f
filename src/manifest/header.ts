/** @module Reads a manifest up to its resources and outputs: variables are filled in, the rest is validated, the `state` section beyond its schema. */
import type { Problem } from "../model/errors.ts";
import { defined, isObject, type Json, type JsonObject, textIn } from "../model/json.ts";
import type { Finding, KindRegistry } from "../model/kind.ts";
import type { Header, ManifestLimits } from "../model/manifest.ts";
import { isStoreType, type StoreType, storeKeys, stores, storeTypes } from "../model/stores/index.ts";
import { holdsCredentials, namesCredential } from "../model/userinfo.ts";
import { refusedSections, sectionFault } from "./limits.ts";
import { finishProblems } from "./problems/excerpt.ts";
import { type Explained, explainViolations } from "./problems/explain-violation.ts";
import { type Fault, listed, type Report, reportTo } from "./problems/fault.ts";
import { plainFields, shownKey } from "./problems/plain-fields.ts";
import { resolveValue, type Scope } from "./resolve-value.ts";
import { documentShape, stateShape } from "./schema/document-shape.ts";
import { scopeOf } from "./scope.ts";
import { declarationFault, secretVariables } from "./secrets.ts";
import type { Parsed, Validators } from "./source.ts";
import { holdsUnresolved, mapOf, mapTexts } from "./values.ts";
import { type GivenVariables, resolveVariables, type Variables } from "./variables.ts";

export interface HeadInputs {
  readonly kinds: KindRegistry;
  readonly validators: Validators;
  /** From --var and --var-file, as text; converted to the declared types. */
  readonly variables: GivenVariables;
  /** Absent for an author who is trusted. */
  readonly limits?: ManifestLimits | undefined;
}

export interface ManifestHead {
  readonly value: JsonObject;
  /** Undefined if one of its parts is wrong. */
  readonly header: Header | undefined;
  readonly variables: Variables;
  readonly findings: readonly Finding[];
}

/** The header, if name, service and state are valid; the named profile even if they are not, unless there are `limits`. `resolveManifest` reports all of this, and more. */
export function readHeader(
  parsed: Parsed,
  inputs: HeadInputs,
): { readonly header?: Header; readonly profile?: string; readonly problems: readonly Problem[] } {
  const head = parsed.value === undefined ? undefined : readHead(parsed, parsed.value, inputs);
  const findings = [...parsed.findings, ...(head?.findings ?? [])];
  const problems = finishProblems(findings, "error", parsed, inputs.kinds.all);
  const profile = inputs.limits === undefined ? textIn(mapOf(head?.value["service"])["profile"]) : undefined;
  return { ...defined({ header: head?.header, profile }), problems };
}

/** Sections that are not filled in here. */
const written = ["$schema", "variables", "defaults", "outputs"];

/** Resolves the variables, fills them in and validates the result. Collects findings; never throws. */
export function readHead(parsed: Parsed, manifest: JsonObject, inputs: HeadInputs): ManifestHead {
  const kinds = inputs.kinds.all;
  const findings: Finding[] = [];
  const broken = new Set<string>();
  const reporter = reportTo(findings, parsed.layers);
  const report: Report["error"] = (path, ...fault) => {
    reporter.error(path, ...fault);
    broken.add(String(path[0] ?? ""));
  };
  const secret = secretVariables(manifest)(kinds);
  const variables = resolveVariables(manifest["variables"], inputs.variables, secret, report);
  const sections = kinds.map((kind) => kind.name);
  const strict = scopeOf({
    variables,
    sections,
    refusesSecret: ({ text }) => ({
      code: "secret-in-clear",
      message: `${text} would be shown in clear here`,
      hint: "use a variable and set it with --var, or write the value out",
    }),
    reference: ({ text }) => ({
      code: "bad-reference",
      message: `${text} is known only after an apply, and is needed before`,
      hint: "use a variable, or write the value out",
    }),
    report: (expression, path, fault) => report(path, fault, "value", expression),
  });
  const scope: Scope = {
    ...strict,
    // A secret for each entry is read when it is used.
    each: (expression, path) =>
      path[0] === "secrets" && expression.keys[0] === "key" ? expression.text : strict.each(expression, path),
  };
  const raw = new Set([...written, ...sections]);
  const entries = Object.entries(manifest).map(([key, value]): [string, Json] => {
    const resolved = raw.has(key) ? value : resolveValue(value, scope, [key]);
    if (!raw.has(key) && holdsUnresolved(resolved)) broken.add(key);
    return [key, resolved];
  });
  const value: JsonObject = Object.fromEntries(entries);
  const violations = inputs.validators.document(value);
  const shownAt = plainFields(manifest, kinds);
  const shown = entries.map(([key, part]) => {
    const isHidden = violations.length > 0 && (key === "state" || key === "service");
    return [key, isHidden ? mapTexts(part, (text, path) => shownAt(path, text), [key]) : part];
  });
  const shape = documentShape(kinds);
  for (const { path, part, fault } of explainViolations(violations, Object.fromEntries(shown), shape)) {
    if (path[0] === "state" && holdsCredential(String(path[1]))) continue;
    report(path, fault, part);
    if (path.length === 0)
      for (const key of shape.required ?? []) if (!Object.hasOwn(value, key)) broken.add(key);
  }
  for (const { path, part, fault } of stateFaults(value["state"])) report(path, fault, part);
  const refused = inputs.limits === undefined ? [] : refusedSections;
  for (const section of refused)
    if (Object.hasOwn(manifest, section)) report([section], sectionFault(section), "key");
  for (const [name, source] of Object.entries(mapOf(value["secrets"]))) {
    const fault = declarationFault(source, inputs.limits);
    if (fault !== undefined) report(["secrets", name], fault);
  }
  return { value, header: headerOf(value, broken), variables, findings };
}

function headerOf(value: JsonObject, broken: ReadonlySet<string>): Header | undefined {
  const { name, environment, service } = value;
  const { subscriptions, ...section } = mapOf(service);
  const byTier = isObject(subscriptions) ? { subscriptions: textFields(subscriptions) } : {};
  const needed = ["apiVersion", "name", "environment", "service", "state"];
  if (typeof name !== "string" || needed.some((key) => broken.has(key))) return undefined;
  return {
    name,
    state: mapOf(value["state"]),
    ...(typeof environment === "string" ? { environment } : {}),
    ...(isObject(service) ? { service: { ...textFields(section), ...byTier } } : {}),
  };
}

function textFields(section: JsonObject): { readonly [name: string]: string } {
  const isText = (entry: [string, Json]): entry is [string, string] => typeof entry[1] === "string";
  return Object.fromEntries(Object.entries(section).filter(isText));
}

/** Keys that people write credentials under. */
const credentialKey =
  /^(?:user|username|pass|passwd|headers?|profile|conn_?str|connection_?string|url|dsn)$/i;

/** True for a key of the `state` section that only credentials have. */
function holdsCredential(key: string): boolean {
  const isKnown = Object.hasOwn(stateShape.properties ?? {}, key);
  return !isKnown && (credentialKey.test(key) || namesCredential(key));
}

export function stateFaults(section: Json | undefined): readonly Explained[] {
  if (!isObject(section)) return [];
  const credentials = Object.entries(section).flatMap(([key, value]): readonly Explained[] => {
    const path = ["state", key];
    if (holdsCredential(key)) return [{ path, part: "key", fault: inManifest(`state.${shownKey(key)}`) }];
    if (typeof value !== "string") return [];
    if (holdsCredentials(value)) return [{ path, part: "value", fault: inManifest(`state.${key}`) }];
    const refusal = storeKeys()[key]?.refusal?.(value);
    return refusal === undefined ? [] : [{ path, part: "value", fault: refusal }];
  });
  const { type, backend } = section;
  if (type !== undefined && backend !== undefined && type !== backend)
    return [...credentials, { path: ["state", "backend"], part: "value", fault: contradiction }];
  const chosen = type ?? backend;
  if (chosen !== undefined && !isStoreType(chosen)) return credentials;
  const store = chosen ?? "file";
  const found = [...credentials, ...keyFaults(section, store, chosen !== undefined)];
  const against = stores[store].contradiction?.(section);
  if (against === undefined) return found;
  const { key, ...fault } = against;
  return [...found, { path: ["state", key], part: "value", fault }];
}

function keyFaults(
  section: { readonly [key: string]: Json },
  type: StoreType,
  isSaid: boolean,
): readonly Explained[] {
  const keys = Object.keys(stores[type].keys);
  const known = Object.keys(stateShape.properties ?? {});
  const misplaced = Object.keys(section).filter(
    (key) => known.includes(key) && key !== "type" && key !== "backend" && !keys.includes(key),
  );
  const missing = stores[type].required.filter((key) => !Object.hasOwn(section, key));
  return [
    ...misplaced.map((key): Explained => {
      const owner = storeTypes().find((other) => Object.hasOwn(stores[other].keys, key)) ?? "file";
      const message = `state.${key} belongs to a state of type ${owner}, and this one ${isSaid ? `is of type ${type}` : "is a file"}`;
      const hint = isSaid ? listed(keys, `keys of ${type}`) : `add type: ${owner}`;
      return { path: ["state", key], part: "key", fault: { code: "state-key", message, hint } };
    }),
    ...missing.map((key): Explained => {
      const description = stateShape.properties?.[key]?.description ?? key;
      const message = `"${key}" is missing in state: a state of type ${type} cannot be found without it`;
      const hint = `add it: ${description.replace(/^\w+: /, "")}`;
      return { path: ["state"], part: "key", fault: { code: "missing-key", message, hint } };
    }),
  ];
}

function inManifest(name: string): Fault {
  return {
    code: "state-credentials",
    message: `${name} holds credentials, and a manifest must not: it is kept in version control`,
    hint: "take them out, and set the variables of the environment that docs/stores.md lists",
  };
}

const contradiction: Fault = {
  code: "state-key",
  message: "state.backend and state.type differ, and they mean the same",
  hint: "keep type",
};
