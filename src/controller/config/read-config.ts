/** @module Reads controller.yaml: its form by the schema, and what a schema cannot say. Keeps its last version that has no mistake. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Ajv } from "ajv";
import { isNode, LineCounter, parseDocument } from "yaml";
import { GraphformError, type SecretSource, violatedPath, violationText } from "../../index.ts";
import { isNetwork } from "../networks.ts";
import { gitPattern } from "../sources/git-url.ts";
import { type ControllerConfig, controllerSchema, type LiveConfig, type NamedCommand } from "./config.ts";

/** A mistake at a path into the file: keys, and positions in lists. */
interface Fault {
  readonly path: readonly (string | number)[];
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

/** The configuration without a file: one tenant, which uses the local platform; uploads alone. */
const defaultConfig: ControllerConfig = {
  tenants: {
    default: { service: {}, secrets: { commands: {} }, auto: "none", maxConcurrent: 4 },
  },
  git: { allow: [], credentials: [] },
  webhooks: {},
  hooks: {},
  http: { trustProxy: [] },
};

/** Reads a configuration. Throws `config-unreadable` and `config-invalid`, with file, line and column. */
export async function readConfig(file: string): Promise<ControllerConfig> {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new GraphformError("config-unreadable", `the configuration ${file} cannot be read`, {
      hint: "name a readable file with --config",
      exitCode: 3,
      cause,
    });
  });
  return parseConfig(text, file);
}

/** Opens the configuration of a file, which can be read again; without one, it is the default. Throws as `readConfig` does. */
export async function openConfig(file: string | undefined): Promise<LiveConfig> {
  let config = file === undefined ? defaultConfig : await readConfig(file);
  return {
    current: () => config,
    async reload() {
      try {
        if (file !== undefined) config = await readConfig(file);
        return undefined;
      } catch (error) {
        if (error instanceof GraphformError) return error;
        throw error;
      }
    },
  };
}

function parseConfig(text: string, file: string): ControllerConfig {
  const lines = new LineCounter();
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, resolveKnownTags: false };
  const document = parseDocument(text.length > longestFile ? "" : text, options);
  const invalid = (offset: number, message: string, hint?: string): GraphformError => {
    const { line, col } = lines.linePos(offset);
    const place = `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
    const anyHint = "graphform schema controller prints what the configuration may hold";
    return new GraphformError("config-invalid", `${place}: ${message}`, {
      hint: hint ?? anyHint,
      exitCode: 3,
    });
  };
  if (text.length > longestFile) throw invalid(0, `it is longer than ${longestFile} characters`);
  const [error] = document.errors;
  if (error !== undefined) throw invalid(error.pos[0], error.message);
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const written = isWritten(value) ? value : undefined;
  const faults = (written === undefined ? violations(value) : further(written)).map((fault) => ({
    ...fault,
    offset: offsetOf(fault.path, (path) => document.getIn(path, true)),
  }));
  const [first] = faults.toSorted((a, b) => a.offset - b.offset);
  if (first !== undefined) throw invalid(first.offset, first.message, first.hint);
  if (written === undefined) throw invalid(0, "the configuration is a map of keys and values");
  return configOf(written, (path) => resolve(dirname(file), path));
}

/** The offset of the key at a path, or of the entry of a list; that of the nearest parent if there is none. */
function offsetOf(path: Fault["path"], nodeAt: (path: Fault["path"]) => unknown): number {
  if (path.length === 0) return 0;
  const parent = path.slice(0, -1);
  const map = nodeAt(parent);
  const items = typeof map === "object" && map !== null && "items" in map ? map.items : [];
  const pair = [items].flat().find((item) => isPair(item) && item.key.value === path.at(-1));
  const node = isPair(pair) ? pair.key : nodeAt(path);
  return (isNode(node) ? node.range?.[0] : undefined) ?? offsetOf(parent, nodeAt);
}

function isPair(item: unknown): item is { readonly key: { readonly value: unknown } } {
  return (
    typeof item === "object" && item !== null && "key" in item && isNode(item.key) && "value" in item.key
  );
}

const isWrittenByAjv = new Ajv({ allErrors: true, strict: true, useDefaults: true }).compile(
  controllerSchema,
);

function isWritten(value: unknown): value is Written<ControllerConfig> {
  return isWrittenByAjv(value);
}

/** The violations of the value that was checked last. Those of the branches of an `anyOf` say less than those below it. */
function violations(value: unknown): readonly Fault[] {
  return (isWrittenByAjv.errors ?? []).flatMap((error) => {
    const { keyword, instancePath, propertyName } = error;
    if (keyword === "anyOf" || keyword === "propertyNames" || (keyword === "type" && instancePath === ""))
      return [];
    const path = [...violatedPath(error), ...(propertyName === undefined ? [] : [propertyName])];
    return { path, message: violationText(error, value) };
  });
}

function further({ tenants, git, webhooks, http }: Written<ControllerConfig>): readonly Fault[] {
  const known = Object.keys(tenants);
  const unless = (isRight: boolean, path: Fault["path"], message: string, hint?: string): readonly Fault[] =>
    isRight ? [] : [{ path, message, ...(hint === undefined ? {} : { hint }) }];
  const unknownTenants = (path: Fault["path"], names: readonly string[] = []): readonly Fault[] =>
    names.flatMap((name, at) =>
      unless(
        known.includes(name),
        [...path, at],
        `there is no tenant "${name}"`,
        `tenants are ${known.join(", ")}`,
      ),
    );
  const pattern = (path: Fault["path"], text: string): readonly Fault[] => {
    const read = gitPattern(text);
    return unless(typeof read !== "string", path, `${JSON.stringify(text)} ${read}`);
  };
  const prefixes = Object.entries(tenants).flatMap(
    ([
      name,
      {
        secrets: { envPrefix: prefix },
      },
    ]) => (prefix === undefined ? [] : [{ name, prefix }]),
  );
  return [
    ...prefixes.flatMap(({ name, prefix }) => {
      const path = ["tenants", name, "secrets", "envPrefix"];
      if (prefix.startsWith("GRAPHFORM_"))
        return [{ path, message: "GRAPHFORM_ begins the controller's own variables" }];
      const other = prefixes.find((one) => one.name !== name && one.prefix.startsWith(prefix));
      const message = `${prefix} begins ${other?.prefix}, the prefix of the tenant ${other?.name}: one would read the other's secrets`;
      return unless(other === undefined, path, message, "give each tenant a prefix that begins no other");
    }),
    ...git.allow.flatMap((text, at) => pattern(["git", "allow", at], text)),
    ...git.credentials.flatMap(({ url, tenants: named }, at) => [
      ...pattern(["git", "credentials", at, "url"], url),
      ...unknownTenants(["git", "credentials", at, "tenants"], named),
    ]),
    ...Object.entries(webhooks).flatMap(([name, { url, tenants: named }]) => [
      ...unless(URL.canParse(url), ["webhooks", name, "url"], "this is not a URL"),
      ...unknownTenants(["webhooks", name, "tenants"], named),
    ]),
    ...http.trustProxy.flatMap((text, at) => {
      const message = `${JSON.stringify(text)} is no address, and no address/bits`;
      return unless(isNetwork(text), ["http", "trustProxy", at], message);
    }),
  ];
}

function configOf(written: Written<ControllerConfig>, absolute: (path: string) => string): ControllerConfig {
  const { tenants, git, webhooks, hooks, http } = written;
  const secret = (source: WrittenSecret): SecretSource => {
    if ("env" in source) return source;
    if ("file" in source) return { file: absolute(source.file) };
    const { run, env } = commandOf(source.command);
    return { command: run, variables: env };
  };
  // A bare name is a built-in profile; anything else is a path.
  const profileOf = (name: string): string => (/^[a-z][a-z0-9-]*$/.test(name) ? name : absolute(name));
  return {
    tenants: mapValues(tenants, ({ service, credentials, secrets, ...rest }) => ({
      ...rest,
      service: { ...service, ...(service.profile && { profile: profileOf(service.profile) }) },
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
    http: { ...http, ...(http.tls && { tls: mapValues({ ...http.tls }, absolute) }) },
  };
}

function commandOf(written: WrittenCommand): NamedCommand {
  return "run" in written ? { run: written.run, env: written.env ?? [] } : { run: written, env: [] };
}

function mapValues<K extends string, T, U>(
  map: { readonly [key in K]: T },
  change: (value: T) => U,
): { readonly [key in K]: U } {
  const entries = Object.entries<T>(map).map(([key, value]) => [key, change(value)]);
  return Object.fromEntries(entries);
}
