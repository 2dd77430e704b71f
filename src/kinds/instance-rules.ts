/** @module Checks the rules of instances that the field table cannot express, and warns of settings that are probably not intended. */
import { instanceSchema } from "../fields/instance.ts";
import type { Desired } from "../model/desired.ts";
import { type FieldSchema, fieldRows, isOfferedBy } from "../model/field-schema.ts";
import { isObject, own, textIn } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { perObject } from "../model/once.ts";
import { parseSize } from "../model/quantity.ts";
import { type InstanceType, type Profile, tiers } from "../model/service.ts";
import { isWritten, partOf } from "../model/spec.ts";
import { hasTags, isOwnerTag } from "./instance-tags.ts";
import { findings, type Remark, remark, resourceAt } from "./remarks.ts";

/** Rules that the field table cannot say: tiers, components, memory, instance types, and the place of network and account. */
export function checkInstance(desired: Desired, context: RuleContext): readonly Finding[] {
  const remarks = rules.flatMap((rule) => rule(desired, context));
  return findings(desired, context, remarks);
}

type Rule = (desired: Desired, context: RuleContext) => readonly Remark[];

const rows = fieldRows(instanceSchema);

const limitedRows: readonly (readonly [string, FieldSchema])[] = [...rows].filter(
  ([, row]) => row["x-tiers"] !== undefined || row["x-components"] !== undefined,
);

function text({ spec }: Desired, path: string): string | undefined {
  return textIn(spec[path]);
}

function tierOf(desired: Desired): string | undefined {
  const tier = text(desired, "tier");
  return tier !== undefined && tiers.includes(tier) ? tier : undefined;
}

function isOffered(desired: Desired, path: string): boolean {
  const tier = tierOf(desired);
  return tier !== undefined && rows.get(path)?.["x-tiers"]?.includes(tier) !== false;
}

function typesOf(desired: Desired, context: RuleContext): { readonly [type: string]: InstanceType } {
  return own(context.profile.instanceTypes, text(desired, "cloudProvider") ?? "") ?? {};
}

const placeRule: Rule = (desired, context) => {
  const { profile } = context;
  const tier = tierOf(desired);
  const component = text(desired, "component");
  if (tier === undefined) return [];
  const keys = own(profile.tiers, tier);
  if (keys === undefined) {
    const hint = context.suggest(tier, Object.keys(profile.tiers), "it has");
    return [remark("unknown-tier", "tier", `the profile "${profile.name}" has no tier ${tier}`, hint)];
  }
  const components = Object.keys(keys.components);
  if (component === undefined || components.includes(component)) return [];
  const hint = context.suggest(component, components, `components of ${tier}`);
  return [remark("unknown-component", "component", `the ${tier} tier has no component "${component}"`, hint)];
};

const offerRule: Rule = (desired) => {
  const tier = tierOf(desired);
  if (tier === undefined) return [];
  return limitedRows.flatMap(([path, row]): readonly Remark[] => {
    if (isOfferedBy(row, desired.spec) || !isWritten(desired.spec, path)) return [];
    if (row["x-tiers"]?.includes(tier) === false) {
      const hint = `remove it; tiers that have it: ${row["x-tiers"].join(", ")}`;
      return [remark("tier-field", path, `${path} is not offered by the ${tier} tier`, hint)];
    }
    const component = text(desired, "component");
    if (component === undefined || row["x-components"]?.includes(component) !== false) return [];
    const hint = `remove it; components that have it: ${row["x-components"].join(", ")}`;
    return [remark("component-field", path, `${path} is not offered by the component ${component}`, hint)];
  });
};

const accountRule: Rule = (desired) => {
  if (tierOf(desired) !== "enterprise-byoa" || isWritten(desired.spec, "cloudAccount")) return [];
  const message = '"cloudAccount" is missing: the enterprise-byoa tier runs in the customer\'s own account';
  return [remark("missing-key", "", message, "add it: a name under cloudAccounts")];
};

const networkTypeRule: Rule = (desired, context) => {
  const type = text(desired, "networkType");
  const { name, networkTypes } = context.profile;
  if (type === undefined || networkTypes.includes(type)) return [];
  const message = `the profile "${name}" has no networkType`;
  const [code, path] = ["profile-field", "networkType"];
  if (networkTypes.length === 0)
    return [remark(code, path, message, "remove it; the network type is the service's choice")];
  return [remark(code, path, `${message} ${type}`, context.suggest(type, networkTypes))];
};

/** A network must be in the place of the instance, and an account with its provider. */
const sameRule: Rule = (desired, context) => [
  ...differences(desired, context, "network", ["cloudProvider", "region"]),
  ...differences(desired, context, "cloudAccount", ["cloudProvider"]),
];

function differences(
  desired: Desired,
  context: RuleContext,
  path: "network" | "cloudAccount",
  keys: readonly string[],
): readonly Remark[] {
  const section = `${path}s`;
  const name = text(desired, path);
  const other = name === undefined ? undefined : resourceAt(context, `${section}.${name}`);
  if (other === undefined) return [];
  const differing = keys.filter((key) => {
    const [mine, its] = [text(desired, key), text(other, key)];
    return mine !== undefined && its !== undefined && mine !== its;
  });
  if (differing.length === 0) return [];
  const its = differing.map((key) => `${key} ${text(other, key)}`).join(" and ");
  const mine = differing.map((key) => `${key} ${text(desired, key)}`).join(" and ");
  const message = `${section}.${name} has ${its}, and this instance has ${mine}`;
  return [
    remark("place-mismatch", path, message, `take another name under ${section}, or correct one of the two`),
  ];
}

const lackRule: Rule = ({ spec }, { profile }) =>
  profile.lacks
    .filter((name) => isWritten(spec, `config.${name}`))
    .map((name) =>
      remark("not-offered", `config.${name}`, `the profile "${profile.name}" has no ${name}`, "remove it"),
    );

/** Deletion protection and tags, if the profile has them; names that are not graphform's own. */
const markRule: Rule = ({ spec }, { profile }) => {
  const { operations, name } = profile;
  const hint = "remove it, or use a profile of a service that has it";
  const lacking = (path: string, what: string): Remark =>
    remark("not-offered", path, `the profile "${name}" has no ${what}`, hint);
  const remarks: Remark[] = [];
  const hasMetadata = operations["instance.metadata"] !== undefined;
  if (spec["deletionProtection"] !== undefined && !hasMetadata)
    remarks.push(lacking("deletionProtection", "deletion protection"));
  const whole = spec["customTags"];
  if (!isWritten(spec, "customTags") || (whole !== undefined && !isObject(whole))) return remarks;
  if (!hasMetadata || !hasTags(profile)) return [...remarks, lacking("customTags", "tags")];
  const names = Object.keys(partOf(spec, "customTags")).filter((tag) => isOwnerTag(tag) || tag.includes("."));
  return [
    ...remarks,
    ...names.map((tag) => {
      const own = `the tag ${tag} is graphform's own`;
      const message = isOwnerTag(tag) ? own : `a tag's name cannot hold a dot: ${tag}`;
      return remark("tag-name", "customTags", message, "use another name");
    }),
  ];
};

/** Tiers with a list take only its types. */
const typeRule: Rule = (desired, context) => {
  const path = "config.nodeInstanceType";
  const [tier, provider, type] = [tierOf(desired), text(desired, "cloudProvider"), text(desired, path)];
  const { tiers: keys, instanceTypes } = context.profile;
  if (tier === undefined || own(keys, tier)?.instanceTypes !== "listed" || !isOffered(desired, path))
    return [];
  const known = typesOf(desired, context);
  if (provider === undefined || type === undefined || Object.hasOwn(known, type)) return [];
  const owner = Object.keys(instanceTypes).find((other) => Object.hasOwn(instanceTypes[other] ?? {}, type));
  const list = context.suggest(type, Object.keys(known), `types of ${tier} on ${provider}`);
  const hint = owner === undefined ? list : `${type} is a type of ${owner}; ${list}`;
  const message = `${type} is no instance type of the ${tier} tier on ${provider}`;
  // An existing instance of any type is imported: the service has accepted that type.
  const isAdvisory = context.profile.listed === "advisory" || desired.importId !== undefined;
  return isAdvisory
    ? [{ ...remark("unknown-type", path, `${message} that the profile lists`, hint), severity: "warning" }]
    : [remark("unknown-type", path, message, hint)];
};

const bytesOfGB = 1024 ** 3;

/** Specification 8: maxMemory must not exceed the memory of the chosen instance type. */
const memoryRule: Rule = (desired, context) => {
  const path = "config.maxMemory";
  const [written, type] = [text(desired, path), text(desired, "config.nodeInstanceType")];
  const size = written === undefined ? undefined : parseSize(written);
  const known = typesOf(desired, context);
  const memory = own(known, type ?? "")?.memoryGB;
  if (size === undefined || memory === undefined || size <= memory * bytesOfGB || !isOffered(desired, path))
    return [];
  const larger = Object.entries(known)
    .filter(([, { memoryGB }]) => size <= memoryGB * bytesOfGB)
    .sort(([, a], [, b]) => a.memoryGB - b.memoryGB)
    .slice(0, 3);
  const others =
    larger.length === 0 ? "" : `, or take a larger type: ${larger.map(([name]) => name).join(", ")}`;
  const message = `${path} is ${written}, more than the ${memory} GB of ${type}`;
  return [remark("too-large", path, message, `at most ${memory}GB${others}`)];
};

/** The engine refuses to load such a pair. */
const timeoutRule: Rule = (desired) => {
  const path = "config.graphDBTimeoutDefault";
  const [preset, max] = [desired.spec[path], desired.spec["config.graphDBTimeoutMax"]];
  if (typeof preset !== "number" || typeof max !== "number" || max === 0 || preset <= max) return [];
  const message = `${path} is ${preset}, above graphDBTimeoutMax, which is ${max}`;
  const hint = `at most ${max}, or raise graphDBTimeoutMax; 0 lifts its limit`;
  return [remark("too-large", path, message, hint)];
};

/** Settings of a lifecycle that the free tier does not keep, and the reason. */
const notKept = [
  ["protect", true, "protected-free", "the service deletes a free instance once it is not used any more"],
  ["onDelete", "backup", "backup-free", "the free tier has no backups, and nothing is deleted without one"],
  ["onReplace", "migrate", "migrate-free", "the tier keeps no copy on disk, and its data is never moved"],
] as const;

/** Warns of settings that are allowed and probably not intended. */
const warningRule: Rule = (desired, context) => {
  const warnings: Remark[] = [];
  const warn = (...parts: Parameters<typeof remark>): void => {
    warnings.push({ ...remark(...parts), severity: "warning" });
  };
  const resultSet = "config.graphDBResultSetSize";
  if (desired.spec[resultSet] === 0) {
    const message = `${resultSet} is 0: unlimited by the specification, but a service that hands 0 to the engine gets no rows at all`;
    warn("no-rows", resultSet, message, "write the largest number of rows that is wanted, at most 1000000");
  }
  const { names, alike } = leftIn(context.all)(context.profile).get(desired.address) ?? {
    names: "",
    alike: [],
  };
  // One warning for all that leave the same: a manifest of 1000 would have 1000 of them.
  if (names !== "" && alike[0] === desired.address) {
    const others = alike.length === 1 ? "" : `, nor in ${alike.length - 1} more`;
    const message = `not set here${others}; the service's defaults apply and cannot be changed later: ${names}`;
    warn(
      "create-only-default",
      "config",
      message,
      "write down each that matters with its value, the default too: then it is checked, and this warning names it no longer",
    );
  }
  for (const [key, value, code, why] of tierOf(desired) === "free" ? notKept : [])
    if (desired.lifecycle[key] === value)
      warn(code, "tier", `${key}: ${value} is not kept: ${why}`, `take a paid tier, or leave ${key} out`);
  return warnings;
};

/** The settings that one instance leaves to the service, and the addresses of all that leave just these. */
interface Left {
  readonly names: string;
  readonly alike: readonly string[];
}

/** The values that each instance of a manifest leaves to the service of a profile, by address. */
const leftIn = perObject((all: readonly Desired[]) =>
  perObject(({ lacks }: Profile): ReadonlyMap<string, Left> => {
    const instances = all.filter(({ kind }) => kind === "instances");
    const names = new Map(instances.map((desired) => [desired.address, leftToDefaults(desired, lacks)]));
    const alike = Map.groupBy(names.keys(), (address) => names.get(address));
    return new Map(
      [...names].map(([address, left]) => [address, { names: left, alike: alike.get(left) ?? [] }]),
    );
  }),
);

const fixedRows = [...rows].filter(
  ([path, row]) => path.startsWith("config.") && row["x-create-only"] === true && row.default !== undefined,
);

function leftToDefaults(desired: Desired, lacks: readonly string[]): string {
  if (tierOf(desired) === undefined) return "";
  const { component = "", tier = "" } = desired.spec;
  return fixedRows
    .filter(([path, row]) => desired.spec[path] === undefined && isOfferedBy(row, { tier, component }))
    .map(([path]) => path.slice("config.".length))
    .filter((name) => !lacks.includes(name))
    .join(", ");
}

const rules: readonly Rule[] = [
  ...[placeRule, offerRule, accountRule, networkTypeRule],
  ...[typeRule, memoryRule, timeoutRule],
  ...[sameRule, lackRule, markRule, warningRule],
];
