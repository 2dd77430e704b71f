/** @module Reads controller.yaml: its form by the schema, and what a schema cannot say. Keeps its last version that has no mistake. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Ajv } from "ajv";
import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import { GraphformError, violatedPath, violationText } from "../../index.ts";
import { isNetwork } from "../networks.ts";
import { gitPattern } from "../sources/git-url.ts";
import { type ControllerConfig, controllerSchema, type LiveConfig, mapTypes } from "./config.ts";

/** A mistake at a path into the file: keys, and positions in lists. */
interface Fault {
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly hint?: string;
}

/** In characters: the parser compares each key with all before it. */
const longestFile = 512 * 1024;

/** The configuration without a file: one tenant, which uses the local platform; uploads alone. */
const defaultText = "tenants: { default: {} }";

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
  let config = file === undefined ? parseConfig(defaultText, "") : await readConfig(file);
  return {
    current: () => config,
    async reload(accept) {
      try {
        const next = file === undefined ? config : await readConfig(file);
        await accept?.(next);
        config = next;
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
  const document = parseDocument(text.length > longestFile ? "" : text, {
    ...{ lineCounter: lines, prettyErrors: false, stringKeys: true, resolveKnownTags: false },
  });
  const placeOf = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  const invalid = (offset: number, message: string, hint?: string): GraphformError => {
    const options = { hint: hint ?? "graphform schema controller prints the keys", exitCode: 3 } as const;
    return new GraphformError("config-invalid", `${placeOf(offset)}: ${message}`, options);
  };
  if (text.length > longestFile) throw invalid(0, `it is longer than ${longestFile} characters`);
  const [error] = document.errors;
  if (error !== undefined) throw invalid(error.pos[0], error.message);
  const value: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  const config = isConfig(value) ? value : undefined;
  const faults = (config === undefined ? violations(value) : further(config)).map((fault) => ({
    ...fault,
    offset: offsetOf(fault.path, (path) => document.getIn(path, true)),
  }));
  const [first, ...others] = faults.toSorted((a, b) => a.offset - b.offset);
  if (first !== undefined) {
    const rest = others.slice(0, 20).map(({ offset, message }) => `\n${placeOf(offset)}: ${message}`);
    throw invalid(first.offset, first.message + rest.join(""), first.hint);
  }
  if (config === undefined) throw invalid(0, "the configuration is a map of keys and values");
  const absolute = (path: unknown): string => resolve(dirname(file), String(path));
  // A cast: the schema has checked `config`, and `mapTypes` replaces only the texts of these types.
  return mapTypes(config, {
    secret: (written) => secretOf(keysOf(written), absolute),
    command: commandOf,
    file: absolute,
    // A bare name is a built-in profile; anything else is a path.
    profile: (name) => (/^[a-z][a-z0-9-]*$/.test(String(name)) ? name : absolute(name)),
  }) as ControllerConfig;
}

/** The forms of secrets and commands in which they are used. */
function secretOf(written: object, absolute: (path: unknown) => string): object {
  if ("file" in written) return { file: absolute(written.file) };
  if (!("command" in written)) return written;
  const { run, env } = commandOf(written.command);
  return { command: run, variables: env };
}

function commandOf(written: unknown): { readonly run: unknown; readonly env: unknown } {
  return { run: written, env: [], ...(Array.isArray(written) ? {} : keysOf(written)) };
}

function keysOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** The offset of the key at a path, or of the entry of a list; that of the nearest parent if there is none. */
function offsetOf(path: Fault["path"], nodeAt: (path: Fault["path"]) => unknown): number {
  if (path.length === 0) return 0;
  const parent = path.slice(0, -1);
  const map = nodeAt(parent);
  const pairs = isMap(map) ? map.items : [];
  const key = pairs.map((pair) => pair.key).find((one) => isScalar(one) && one.value === path.at(-1));
  const node = key ?? nodeAt(path);
  return (isNode(node) ? node.range?.[0] : undefined) ?? offsetOf(parent, nodeAt);
}

const conforms = new Ajv({ allErrors: true, strict: true, useDefaults: true }).compile(controllerSchema);

/** Secrets and commands have the forms in which they are written. */
function isConfig(value: unknown): value is ControllerConfig {
  return conforms(value);
}

/** The violations of the value that was checked last. Those of the branches of an `anyOf` say less than those below it. */
function violations(value: unknown): readonly Fault[] {
  return (conforms.errors ?? []).flatMap((error) => {
    const { keyword, instancePath, propertyName } = error;
    if (keyword === "anyOf" || keyword === "propertyNames" || (keyword === "type" && instancePath === ""))
      return [];
    const path = [...violatedPath(error), ...(propertyName === undefined ? [] : [propertyName])];
    return { path, message: violationText(error, value) };
  });
}

/** True for a host that is this machine, as an option or a URL names it. */
export function isThisMachine(host: string): boolean {
  return /^(localhost|::1|\[::1\]|127(\.\d+){3})$/.test(host);
}

/** True for an address on another machine to which everything is sent in clear. */
function isInClear(address: string): boolean {
  const { protocol, hostname = "" } = URL.parse(address) ?? {};
  return protocol === "http:" && !isThisMachine(hostname);
}

/** Mistakes that a schema cannot find. */
function further({ tenants, git, webhooks, http }: ControllerConfig): readonly Fault[] {
  const known = Object.keys(tenants);
  const unless = (isRight: boolean, path: Fault["path"], message: string, hint?: string): readonly Fault[] =>
    isRight ? [] : [{ path, message, ...(hint === undefined ? {} : { hint }) }];
  const unknownTenants = (path: Fault["path"], names: readonly string[] = []): readonly Fault[] =>
    names.flatMap((name, at) =>
      unless(
        known.includes(name),
        [...path, at],
        `there is no tenant "${name}"`,
        `known: ${known.join(", ")}`,
      ),
    );
  const pattern = (path: Fault["path"], text: string): readonly Fault[] => {
    const read = gitPattern(text);
    return unless(typeof read !== "string", path, `${JSON.stringify(text)} ${read}`);
  };
  const prefixes = Object.entries(tenants).flatMap(([name, { secrets }]) =>
    secrets.envPrefix === undefined ? [] : [{ name, prefix: secrets.envPrefix }],
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
      ...unless(!isInClear(url), ["git", "credentials", at, "url"], "its token would go in clear"),
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
