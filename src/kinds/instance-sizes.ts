/** @module Checks instance types and memory sizes against the profile. */
import type { Desired } from "../model/desired.ts";
import { own } from "../model/json.ts";
import type { RuleContext } from "../model/kind.ts";
import type { InstanceType } from "../model/profile.ts";
import { parseSize } from "../model/quantity.ts";
import { isOffered, type Rule, text, tierOf } from "./instance-spec.ts";

function typesOf(desired: Desired, context: RuleContext): { readonly [type: string]: InstanceType } {
  return own(context.profile.instanceTypes, text(desired, "cloudProvider") ?? "") ?? {};
}

/** Tiers with a list take only its types. */
export const typeRule: Rule = (desired, context) => {
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
  // What exists is imported whatever its type: the service made it.
  const isAdvisory = context.profile.listed === "advisory" || desired.importId !== undefined;
  return isAdvisory
    ? [
        {
          code: "unknown-type",
          path,
          message: `${message} that the profile lists`,
          hint,
          severity: "warning",
        },
      ]
    : [{ code: "unknown-type", path, message, hint }];
};

const bytesOfGB = 1024 ** 3;

/** Specification 8: maxMemory must not exceed the memory of the chosen instance type. */
export const memoryRule: Rule = (desired, context) => {
  const path = "config.maxMemory";
  const [written, type] = [text(desired, path), text(desired, "config.nodeInstanceType")];
  const size = written === undefined ? undefined : parseSize(written);
  const known = typesOf(desired, context);
  const memory = type !== undefined && Object.hasOwn(known, type) ? known[type]?.memoryGB : undefined;
  if (size === undefined || memory === undefined || size <= memory * bytesOfGB || !isOffered(desired, path))
    return [];
  const larger = Object.entries(known)
    .filter(([, { memoryGB }]) => size <= memoryGB * bytesOfGB)
    .sort(([, a], [, b]) => a.memoryGB - b.memoryGB)
    .slice(0, 3);
  const others =
    larger.length === 0 ? "" : `, or take a larger type: ${larger.map(([name]) => name).join(", ")}`;
  const message = `${path} is ${written}, more than the ${memory} GB of ${type}`;
  return [{ code: "too-large", path, message, hint: `at most ${memory}GB${others}` }];
};

/** The engine refuses to load such a pair. */
export const timeoutRule: Rule = (desired) => {
  const path = "config.graphDBTimeoutDefault";
  const [usual, longest] = [desired.spec[path], desired.spec["config.graphDBTimeoutMax"]];
  if (typeof usual !== "number" || typeof longest !== "number" || longest === 0 || usual <= longest)
    return [];
  const message = `${path} is ${usual}, above graphDBTimeoutMax, which is ${longest}`;
  return [
    {
      code: "too-large",
      path,
      message,
      hint: `at most ${longest}, or raise graphDBTimeoutMax; 0 lifts its limit`,
    },
  ];
};
