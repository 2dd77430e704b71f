import { instanceSchema, tiers } from "../fields/instance.ts";
import type { Desired } from "../model/desired.ts";
import type { FieldSchema } from "../model/field-schema.ts";
import type { Json } from "../model/json.ts";
import type { Finding } from "../model/kind.ts";
import type { InstanceType } from "../model/profile.ts";
import { parseSize } from "../model/quantity.ts";
import { valueAt } from "../model/spec-paths.ts";
import { findings, hintFor, type RuleTools, resourceAt, type Said } from "./rule-tools.ts";

/**
 * What the field table cannot say of an instance by itself: the tier matrix (specification 2.2), components, memory
 * and instance types of the profile, and what its network and its account must share with it.
 */
export function checkInstance(desired: Desired, context: RuleTools): readonly Finding[] {
  const rules = [
    placeRule,
    offerRule,
    accountRule,
    networkTypeRule,
    typeRule,
    memoryRule,
    timeoutRule,
    sameRule,
    warnings,
  ];
  return findings(
    desired,
    context,
    rules.flatMap((rule) => rule(desired, context)),
  );
}

type Rule = (desired: Desired, context: RuleTools) => readonly Said[];

const configRows = Object.entries(instanceSchema.properties["config"]?.properties ?? {});
const rows: readonly (readonly [string, FieldSchema])[] = [
  ...Object.entries(instanceSchema.properties),
  ...configRows.map(([name, row]): readonly [string, FieldSchema] => [`config.${name}`, row]),
];
const rowAt = new Map(rows);

function text(desired: Desired, path: string): string | undefined {
  const value = valueAt(desired.spec, path);
  return typeof value === "string" ? value : undefined;
}

/** The tier, where it is one of the specification's. */
function tierOf(desired: Desired): string | undefined {
  const tier = text(desired, "tier");
  return tier !== undefined && tiers.includes(tier) ? tier : undefined;
}

const placeRule: Rule = (desired, context) => {
  const { profile } = context;
  const tier = tierOf(desired);
  const component = text(desired, "component");
  if (tier === undefined) return [];
  const keys = profile.tiers[tier];
  if (keys === undefined) {
    const hint = hintFor(context, tier, Object.keys(profile.tiers), "it has");
    return [
      {
        code: "unknown-tier",
        path: "tier",
        message: `the profile "${profile.name}" has no tier ${tier}`,
        hint,
      },
    ];
  }
  const components = Object.keys(keys.components);
  if (component === undefined || components.includes(component)) return [];
  const hint = hintFor(context, component, components, `components of ${tier}`);
  return [
    {
      code: "unknown-component",
      path: "component",
      message: `the ${tier} tier has no component "${component}"`,
      hint,
    },
  ];
};

/** Both availability tables of specification 2.2. */
const offerRule: Rule = (desired) => {
  const tier = tierOf(desired);
  if (tier === undefined) return [];
  return rows.flatMap(([path, row]): readonly Said[] => {
    if (valueAt(desired.spec, path) === undefined) return [];
    if (row["x-tiers"]?.includes(tier) === false) {
      const hint = `remove it; tiers that have it: ${row["x-tiers"].join(", ")}`;
      return [{ code: "tier-field", path, message: `${path} is not offered by the ${tier} tier`, hint }];
    }
    const component = text(desired, "component");
    if (component === undefined || row["x-components"]?.includes(component) !== false) return [];
    const hint = `remove it; components that have it: ${row["x-components"].join(", ")}`;
    return [
      {
        code: "component-field",
        path,
        message: `${path} is not offered by the component ${component}`,
        hint,
      },
    ];
  });
};

const accountRule: Rule = (desired) => {
  if (tierOf(desired) !== "enterprise-byoa" || Object.hasOwn(desired.spec, "cloudAccount")) return [];
  const message = '"cloudAccount" is missing: the enterprise-byoa tier runs in the customer\'s own account';
  return [{ code: "missing-key", path: "", message, hint: "add it: a name under cloudAccounts" }];
};

const networkTypeRule: Rule = (desired, context) => {
  const type = text(desired, "networkType");
  const { name, networkTypes } = context.profile;
  if (type === undefined || networkTypes.includes(type)) return [];
  const none = networkTypes.length === 0;
  const message = none
    ? `the profile "${name}" has no networkType`
    : `the profile "${name}" has no networkType ${type}`;
  const hint = none
    ? "remove it; the network type is the service's choice"
    : hintFor(context, type, networkTypes);
  return [{ code: "profile-field", path: "networkType", message, hint }];
};

function isOffered(desired: Desired, path: string): boolean {
  const tier = tierOf(desired);
  return tier !== undefined && rowAt.get(path)?.["x-tiers"]?.includes(tier) !== false;
}

function typesOf(desired: Desired, context: RuleTools): { readonly [type: string]: InstanceType } {
  return context.profile.instanceTypes[text(desired, "cloudProvider") ?? ""] ?? {};
}

const typeRule: Rule = (desired, context) => {
  const path = "config.nodeInstanceType";
  const [tier, provider, type] = [tierOf(desired), text(desired, "cloudProvider"), text(desired, path)];
  const { tiers: keys, instanceTypes } = context.profile;
  if (tier === undefined || keys[tier]?.instanceTypes !== "listed" || !isOffered(desired, path)) return [];
  const known = typesOf(desired, context);
  if (provider === undefined || type === undefined || Object.hasOwn(known, type)) return [];
  const owner = Object.keys(instanceTypes).find((other) => Object.hasOwn(instanceTypes[other] ?? {}, type));
  const list = hintFor(context, type, Object.keys(known), `types of ${tier} on ${provider}`);
  const hint = owner === undefined ? list : `${type} is a type of ${owner}; ${list}`;
  return [
    {
      code: "unknown-type",
      path,
      message: `${type} is no instance type of the ${tier} tier on ${provider}`,
      hint,
    },
  ];
};

const bytesOfGB = 1024 ** 3;

/** Specification 8: maxMemory must not exceed the memory of the chosen instance type. */
const memoryRule: Rule = (desired, context) => {
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
const timeoutRule: Rule = (desired) => {
  const path = "config.graphDBTimeoutDefault";
  const [usual, longest] = [valueAt(desired.spec, path), valueAt(desired.spec, "config.graphDBTimeoutMax")];
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

/** A network must be where the instance is, and an account with its provider. */
const sameRule: Rule = (desired, context) => [
  ...differences(desired, context, {
    path: "network",
    section: "networks",
    keys: ["cloudProvider", "region"],
  }),
  ...differences(desired, context, {
    path: "cloudAccount",
    section: "cloudAccounts",
    keys: ["cloudProvider"],
  }),
];

interface Companion {
  readonly path: string;
  readonly section: string;
  readonly keys: readonly string[];
}

function differences(
  desired: Desired,
  context: RuleTools,
  { path, section, keys }: Companion,
): readonly Said[] {
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
    {
      code: "place-mismatch",
      path,
      message,
      hint: `take another name under ${section}, or correct one of the two`,
    },
  ];
}

const warnings: Rule = (desired) => {
  const said: Said[] = [];
  const warn = (code: string, path: string, message: string, hint: string): void => {
    said.push({ code, path, message, hint, severity: "warning" });
  };
  const resultSet = "config.graphDBResultSetSize";
  if (valueAt(desired.spec, resultSet) === 0) {
    const message = `${resultSet} is 0: the specification calls that unlimited, and the engine returns no rows at all`;
    warn("no-rows", resultSet, message, "write the largest number of rows that is wanted, at most 1000000");
  }
  const left = leftToDefaults(desired);
  if (left.length > 0) {
    const message = `left to the service's defaults, and fixed once it is created: ${left.join(", ")}`;
    warn(
      "create-only-default",
      "config",
      message,
      "write down those that matter; changing one later takes a new instance",
    );
  }
  if (tierOf(desired) === "free" && desired.lifecycle.protect === true) {
    const message = "a free instance is protected, but the service deletes it by itself once nobody uses it";
    warn("protected-free", "tier", message, "take a paid tier for data that must stay, or leave protect out");
  }
  return said;
};

function leftToDefaults(desired: Desired): readonly string[] {
  const component = text(desired, "component") ?? "";
  if (tierOf(desired) === undefined) return [];
  return configRows.flatMap(([name, row]) => {
    const fixed = row["x-create-only"] === true && row.default !== undefined;
    const offered =
      isOffered(desired, `config.${name}`) && row["x-components"]?.includes(component) !== false;
    const value: Json | undefined = valueAt(desired.spec, `config.${name}`);
    return fixed && offered && value === undefined ? [name] : [];
  });
}
