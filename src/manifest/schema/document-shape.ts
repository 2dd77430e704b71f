/** @module Holds the schema of a manifest without the fields of its resources, and lists its keys. */
import { disruptions } from "../../model/field-schema.ts";
import { mapped } from "../../model/json.ts";
import { tiers } from "../../model/service.ts";
import { storeKeys, stores, storeTypes } from "../../model/stores/index.ts";
import { textKey } from "../../model/stores/store-description.ts";
import { ownKeys, type Shape } from "./shape.ts";

export interface Section {
  readonly name: string;
  readonly noun: string;
}

export type ResourceShapes = (section: string) => { readonly resource: Shape; readonly defaults: Shape };

const open: Shape = { type: "object", description: "Fields of the resource as keys and values." };

const anyResource: ResourceShapes = () => ({ resource: open, defaults: open });

/** Names of resources, as addresses spell them. */
const resourceName = "^[A-Za-z0-9][A-Za-z0-9_-]*$";
const variableName = "^[A-Za-z_][A-Za-z0-9_]*$";
const wordName = "^[A-Za-z_][A-Za-z0-9_-]*$";

function closed(properties: { readonly [name: string]: Shape }, required: readonly string[] = []): Shape {
  return { type: "object", additionalProperties: false, properties, required };
}

function named(pattern: string, description: string, entry: Shape | boolean): Shape {
  return {
    type: "object",
    description,
    propertyNames: { type: "string", pattern },
    additionalProperties: entry,
  };
}

function text(description: string, more: Shape = {}): Shape {
  return { type: "string", minLength: 1, description, ...more };
}

const url: Shape = { pattern: "^https?://[^\\s/][^\\s]*$", examples: ["https://platform.example.com"] };

const service: Shape = {
  ...closed({
    profile: text("A built-in profile's name, or the path of a profile file."),
    platformUrl: text("URL of the platform host.", url),
    usersUrl: text("URL of the host of database users.", url),
    subscriptionId: text("The subscription that owns the resources. Left out: looked up if the profile can."),
    subscriptions: {
      ...closed(
        Object.fromEntries(tiers.map((tier) => [tier, text(`The subscription to the ${tier} tier.`)])),
      ),
      description: "Subscriptions of single tiers, in place of subscriptionId: { pro: sub-1, free: sub-2 }.",
    },
  }),
  description: "The hosting service. Left out: the local platform.",
};

const variable: Shape = closed({
  type: {
    type: "string",
    enum: ["string", "number", "boolean", "list", "map"],
    description: "What the value is. Left out: what the default is, or else text.",
  },
  default: { description: "Used where --var and --var-file say nothing." },
  description: { type: "string", description: "What it is for." },
  allowed: { type: "array", minItems: 1, description: "The values that it may have.", items: {} },
});

const program: Shape = { type: "array", minItems: 1, items: { type: "string" } };

const secret: Shape = {
  description: "Where it is read: { env: NAME }, { file: path } or { command: [program, argument] }.",
  "x-secret": true,
  ...closed({
    env: text(
      "Environment variable that holds it; `${each.key}` in it, or in another source, makes a secret for each entry.",
      {
        "x-secret": true,
        pattern: "^[A-Za-z_][A-Za-z0-9_]*(?:\\$\\{ *each\\.key *\\}[A-Za-z0-9_]*){0,3}$",
        examples: ["ORDERS_PASSWORD"],
      },
    ),
    file: text("File that holds it; one trailing newline is cut."),
    command: {
      ...program,
      "x-secret": true,
      type: ["array", "object"],
      description:
        "Program and arguments that print it; no shell is involved. It gets PATH, HOME and the locale; { run: [...], env: [NAME] } gives it more.",
      required: ["run"],
      additionalProperties: false,
      properties: {
        run: { ...program, description: "Program and arguments." },
        env: {
          type: "array",
          items: { type: "string", pattern: variableName },
          description: "Variables of the environment that it gets besides, such as VAULT_ADDR.",
        },
      },
    },
  }),
  minProperties: 1,
  maxProperties: 1,
};

function lists(section: string): { readonly [name: string]: Shape } {
  const address = text("Address of a resource.", {
    examples: [`${section}.orders`, `${section}.cache["eu"]`],
  });
  const date = { pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", examples: ["2027-01-01"] };
  const removal = {
    address,
    destroy: { type: "boolean", description: "false lets go of it and leaves it running." },
    reason: text("Why."),
    until: text("Date after which this entry is to be gone.", date),
  } as const;
  return {
    imports: {
      type: "array",
      description: "Existing objects to bind.",
      items: closed({ address, id: text("Id of the object at the service.") }, ["address", "id"]),
    },
    moved: {
      type: "array",
      description: "Resources that have another address now.",
      items: closed({ from: address, to: address }, ["from", "to"]),
    },
    removed: {
      type: "array",
      description: "Resources that are no longer declared, and what becomes of them.",
      items: closed(removal, ["address", "destroy"]),
    },
  };
}

const guards: Shape = {
  ...closed({
    maxDeletes: {
      type: "integer",
      minimum: 0,
      description: "Deletions in one plan; a replacement counts as one.",
    },
    maxChangePercent: {
      type: "number",
      minimum: 0,
      maximum: 100,
      description: "Share of what exists that one plan may change, once there are 10 or more.",
    },
    maxDisruption: {
      type: "string",
      enum: disruptions,
      description: "The worst that a plan may do to a running database.",
    },
  }),
  description: "Thresholds of a plan.",
};

/** The schema of a manifest. Resources are open maps unless their shapes are given. */
export function documentShape(sections: readonly Section[], shapes: ResourceShapes = anyResource): Shape {
  const of = sections.map(({ name, noun }) => ({ name, noun, ...shapes(name) }));
  const defaults = Object.fromEntries(of.map(({ name, defaults }): [string, Shape] => [name, defaults]));
  const resources = of.map(({ name, noun, resource }): [string, Shape] => [
    name,
    named(resourceName, `Each ${noun} by name.`, resource),
  ]);
  return closed(
    {
      $schema: { type: "string", description: "For editors." },
      apiVersion: {
        type: "string",
        const: "graphform/v1",
        description: "Version of the format: graphform/v1.",
      },
      name: {
        type: "string",
        pattern: "^[a-z][a-z0-9-]{0,62}$",
        description:
          "Name of the manifest: lower-case letters, digits and -, at most 63; it scopes the state.",
        examples: ["shop-prod"],
      },
      environment: {
        type: "string",
        pattern: "^[a-z][a-z0-9-]{0,62}$",
        description:
          "Environment that the manifest is for: it tells its state from that of others with the same name. Left out: the manifest's path within its Git repository does.",
        examples: ["prod"],
      },
      namePrefix: text("Put before the name of every object at the service that this manifest declares.", {
        pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$",
        examples: ["staging-"],
      }),
      service,
      state: stateShape,
      variables: named(wordName, "Values that --var and --var-file set.", variable),
      secrets: named(wordName, "Where secrets are read; never stored, never printed.", secret),
      defaults: { ...closed(defaults), description: "Laid under every resource of a section." },
      ...Object.fromEntries(resources),
      ...lists(sections[0]?.name ?? "section"),
      guards,
      outputs: named(wordName, "What `graphform output` prints after an apply.", true),
    },
    ["apiVersion", "name"],
  );
}

/** The long form of an output: a map with `value`. */
export const outputShape: Shape = closed(
  {
    value: { description: "The value; it may hold references." },
    sensitive: { type: "boolean", description: "true hides it wherever it is printed." },
    description: { type: "string", description: "What it is for." },
  },
  ["value"],
);

/** A key of the manifest; `*` in its path stands for any name. */
export interface ManifestKey {
  readonly path: string;
  readonly shape: Shape;
}

/** Every key but the fields of the kinds, each before the keys in it. Keys of every resource have no section. */
export function manifestKeys(sections: readonly Section[]): readonly ManifestKey[] {
  const { properties = {} } = documentShape(sections);
  return [...keysIn(properties, ""), ...keysIn(ownKeys, "")];
}

function keysIn(properties: { readonly [name: string]: Shape }, prefix: string): readonly ManifestKey[] {
  return Object.entries(properties).flatMap(([name, shape]) => {
    const path = `${prefix}${name}`;
    return [{ path, shape }, ...keysWithin(shape, path)];
  });
}

function keysWithin(
  { properties, additionalProperties, items }: Shape,
  path: string,
): readonly ManifestKey[] {
  if (properties !== undefined) return keysIn(properties, `${path}.`);
  if (typeof additionalProperties === "object") return keysWithin(additionalProperties, `${path}.*`);
  return items === undefined ? [] : keysWithin(items, path);
}

const places = Object.values(stores).map(({ place }) => place);
const chosen = `${places.slice(0, -1).join(", ")} or ${places.at(-1)}`;

/** The `state` section. `stateFaults` checks which keys a type has. */
export const stateShape: Shape = {
  type: "object",
  additionalProperties: false,
  properties: {
    type: textKey(`The store: ${chosen}. Left out: a file.`, { enum: storeTypes() }),
    backend: textKey("Another word for type.", { enum: storeTypes() }),
    ...mapped(storeKeys(), ({ form: _, refusal: __, ...row }) => row),
  },
  required: [],
  description:
    "Where the state is kept. Left out: .graphform/NAME.state.json beside the manifest. Credentials come from the environment.",
};
