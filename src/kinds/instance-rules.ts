/** @module Checks the rules of instances that the field table cannot express. */
import type { Desired } from "../model/desired.ts";
import { isObject, own } from "../model/json.ts";
import type { Finding, RuleContext } from "../model/kind.ts";
import { isWritten, partOf } from "../model/spec.ts";
import { limitedRows, type Rule, settingRules, text, tierOf, warningRules } from "./instance-settings.ts";
import { hasTags, isOwnerTag } from "./instance-tags.ts";
import { findings, type Remark, remark, resourceAt } from "./rule-tools.ts";

/** Rules that the field table cannot say: tiers, components, memory, instance types, and the place of network and account. */
export function checkInstance(desired: Desired, context: RuleContext): readonly Finding[] {
  const remarks = rules.flatMap((rule) => rule(desired, context));
  return findings(desired, context, remarks);
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
    if (!isWritten(desired.spec, path)) return [];
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

const rules: readonly Rule[] = [
  ...[placeRule, offerRule, accountRule, networkTypeRule],
  ...settingRules,
  ...[sameRule, lackRule, markRule],
  ...warningRules,
];
