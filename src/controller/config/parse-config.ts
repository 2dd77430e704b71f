/** @module Parses the text of controller.yaml: its form by the schema, and what a schema cannot say. */
import { isIP } from "node:net";
import { Ajv, type ErrorObject } from "ajv";
import { isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { GraphformError, type SecretSource } from "../../index.ts";
import { gitPattern } from "../sources/git-url.ts";
import type { ControllerConfig, NamedCommand } from "./config.ts";
import { controllerSchema } from "./config-schema.ts";

/** A path into the file: keys, and positions in lists. */
type Path = readonly (string | number)[];

interface Fault {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

type WrittenCommand =
  | readonly string[]
  | { readonly run: readonly string[]; readonly env?: readonly string[] };
type WrittenSecret =
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: WrittenCommand };

/** A configuration as it is written, with its defaults: secrets and commands have several forms. */
type Written<T> = T extends SecretSource
  ? WrittenSecret
  : T extends NamedCommand
    ? WrittenCommand
    : T extends readonly (infer U)[]
      ? readonly Written<U>[]
      : T extends object
        ? { readonly [K in keyof T]: Written<T[K]> }
        : T;

/** In characters: the parser compares each key with all before it. */
const longestFile = 512 * 1024;

/**
 * Returns the configuration. `resolve` makes paths absolute. Throws `config-invalid` with the first mistake: `file:line:column: message`.
 */
export function parseConfig(text: string, file: string, resolve: (path: string) => string): ControllerConfig {
  const lines = new LineCounter();
  const invalid = (offset: number, { message, hint }: Omit<Fault, "path">): GraphformError => {
    const { line, col } = lines.linePos(offset);
    return new GraphformError(
      "config-invalid",
      `${file}:${Math.max(1, line)}:${Math.max(1, col)}: ${message}`,
      {
        hint: hint ?? "graphform schema controller prints what the configuration may hold",
        exitCode: 3,
      },
    );
  };
  if (text.length > longestFile) throw invalid(0, { message: `it is longer than ${longestFile} characters` });
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    resolveKnownTags: false,
  });
  const [error] = document.errors;
  if (error !== undefined) throw invalid(error.pos[0], { message: error.message });
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const offsetOf = (path: Path): number => {
    for (let length = path.length; length > 0; length -= 1) {
      const key = keyNode(document.getIn(path.slice(0, length - 1), true), path[length - 1]);
      const node: unknown = document.getIn(path.slice(0, length), true);
      const [start] = key ?? (isNode(node) ? node.range : undefined) ?? [];
      if (start !== undefined) return start;
    }
    return 0;
  };
  const written = isWritten(value) ? value : undefined;
  const faults = written === undefined ? violations(value) : further(written);
  const [first] = faults.toSorted((a, b) => offsetOf(a.path) - offsetOf(b.path));
  if (first !== undefined || written === undefined)
    throw invalid(offsetOf(first?.path ?? []), first ?? noConfig);
  return configOf(written, resolve);
}

const noConfig: Fault = { path: [], message: "the configuration is a map of keys and values" };

/** The range of the key of a map's entry; undefined for an entry of a list. */
function keyNode(map: unknown, key: string | number | undefined): readonly number[] | undefined {
  if (typeof map !== "object" || map === null || !("items" in map) || !Array.isArray(map.items))
    return undefined;
  for (const item of map.items)
    if (
      typeof item === "object" &&
      item !== null &&
      "key" in item &&
      isScalar(item.key) &&
      item.key.value === key
    )
      return item.key.range ?? undefined;
  return undefined;
}

const isWrittenByAjv = new Ajv({ allErrors: true, strict: true, useDefaults: true }).compile(
  controllerSchema,
);

function isWritten(value: unknown): value is Written<ControllerConfig> {
  return isWrittenByAjv(value);
}

/** The violations of the value that was checked last. Those of the branches of an `anyOf` say less than those below it. */
function violations(value: unknown): readonly Fault[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [noConfig];
  const found = (isWrittenByAjv.errors ?? []).filter(
    ({ keyword }) => keyword !== "anyOf" && keyword !== "propertyNames",
  );
  return found.map((error) => ({ path: pathOf(error), message: wordsOf(error) }));
}

function pathOf({ instancePath, params, propertyName }: ErrorObject): Path {
  const steps = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last: unknown = propertyName ?? params["additionalProperty"];
  return [...steps, ...(typeof last === "string" ? [last] : [])].map((step) =>
    /^\d+$/.test(step) ? Number(step) : step,
  );
}

function wordsOf(error: ErrorObject): string {
  const { keyword, params } = error;
  const path = dotted(pathOf(error));
  switch (keyword) {
    case "additionalProperties":
      return `there is no key ${path}`;
    case "required":
      return `${path || "the file"} lacks ${String(params["missingProperty"])}`;
    case "enum":
      return `${path} must be one of ${[params["allowedValues"]].flat().join(", ")}`;
    case "type":
      return `${path} must be a ${String(params["type"]).replace("array", "list").replace("object", "map")}`;
    case "pattern":
      return `${path} does not match ${String(params["pattern"])}`;
    default:
      return `${path} ${error.message ?? "is not allowed"}`;
  }
}

function dotted(path: Path): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .replace(/^\./, "");
}

/** Mistakes that a schema cannot find. */
function further({ tenants, git, webhooks, http }: Written<ControllerConfig>): readonly Fault[] {
  const known = Object.keys(tenants);
  const unknownTenants = (path: Path, names: readonly string[] = []): readonly Fault[] =>
    names.flatMap((name, at) =>
      known.includes(name)
        ? []
        : [
            {
              path: [...path, at],
              message: `there is no tenant "${name}"`,
              hint: `tenants are ${known.join(", ")}`,
            },
          ],
    );
  const pattern = (path: Path, text: string): readonly Fault[] => {
    const read = gitPattern(text);
    return typeof read === "string" ? [{ path, message: `${JSON.stringify(text)} ${read}` }] : [];
  };
  const prefixes = Object.entries(tenants).flatMap(([name, { secrets }]) =>
    secrets.envPrefix === undefined ? [] : [{ name, prefix: secrets.envPrefix }],
  );
  return [
    ...prefixes.flatMap(({ name, prefix }): readonly Fault[] => {
      const path = ["tenants", name, "secrets", "envPrefix"];
      if (prefix.startsWith("GRAPHFORM_"))
        return [{ path, message: "GRAPHFORM_ begins the controller's own variables" }];
      const other = prefixes.find((one) => one.name !== name && one.prefix.startsWith(prefix));
      return other === undefined
        ? []
        : [
            {
              path,
              message: `${prefix} begins ${other.prefix}, the prefix of the tenant ${other.name}: one would read the other's secrets`,
              hint: "give each tenant a prefix that begins no other",
            },
          ];
    }),
    ...git.allow.flatMap((text, at) => pattern(["git", "allow", at], text)),
    ...git.credentials.flatMap(({ url, tenants: named }, at) => [
      ...pattern(["git", "credentials", at, "url"], url),
      ...unknownTenants(["git", "credentials", at, "tenants"], named),
    ]),
    ...Object.entries(webhooks).flatMap(([name, { url, tenants: named }]) => [
      ...(URL.canParse(url) ? [] : [{ path: ["webhooks", name, "url"], message: "this is not a URL" }]),
      ...unknownTenants(["webhooks", name, "tenants"], named),
    ]),
    ...http.trustProxy.flatMap((text, at) =>
      isNetwork(text)
        ? []
        : [
            {
              path: ["http", "trustProxy", at],
              message: `${JSON.stringify(text)} is no address, and no address/bits`,
            },
          ],
    ),
  ];
}

function isNetwork(text: string): boolean {
  const [address = "", bits = "0", more] = text.split("/");
  const version = isIP(address);
  return (
    version !== 0 &&
    more === undefined &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= (version === 4 ? 32 : 128)
  );
}

function configOf(written: Written<ControllerConfig>, resolve: (path: string) => string): ControllerConfig {
  const { tenants, git, webhooks, hooks, http } = written;
  const secret = (source: WrittenSecret): SecretSource => {
    if ("env" in source) return source;
    if ("file" in source) return { file: resolve(source.file) };
    const { run, env } = commandOf(source.command);
    return { command: run, variables: env };
  };
  return {
    tenants: mapValues(tenants, ({ service, credentials, secrets, ...rest }) => ({
      ...rest,
      service: {
        ...service,
        ...(service.profile === undefined ? {} : { profile: profileOf(service.profile, resolve) }),
      },
      ...(credentials && {
        credentials: { username: secret(credentials.username), password: secret(credentials.password) },
      }),
      secrets: { ...secrets, commands: mapValues(secrets.commands, commandOf) },
    })),
    git: { ...git, credentials: git.credentials.map((one) => ({ ...one, token: secret(one.token) })) },
    webhooks: mapValues(webhooks, (one) => ({ ...one, secret: secret(one.secret) })),
    hooks: {
      ...(hooks.github && { github: secret(hooks.github) }),
      ...(hooks.gitlab && { gitlab: secret(hooks.gitlab) }),
    },
    http: {
      ...http,
      ...(http.tls && { tls: { certificate: resolve(http.tls.certificate), key: resolve(http.tls.key) } }),
    },
  };
}

function commandOf(written: WrittenCommand): NamedCommand {
  return "run" in written ? { run: written.run, env: written.env ?? [] } : { run: written, env: [] };
}

/** A bare name is a built-in profile; anything else is a path. */
function profileOf(name: string, resolve: (path: string) => string): string {
  return /^[a-z][a-z0-9-]*$/.test(name) ? name : resolve(name);
}

function mapValues<T, U>(
  map: { readonly [key: string]: T },
  change: (value: T) => U,
): { readonly [key: string]: U } {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}
