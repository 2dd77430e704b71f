/** @module Opens the store of a state; the code of a protocol is loaded when the store is used first. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileTrouble } from "../files/file-trouble.ts";
import { GraphformError } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { Header } from "../model/manifest.ts";
import { formatDuration, parseDuration } from "../model/quantity.ts";
import type { FileLocation } from "../model/stores/file.ts";
import { type HttpLocation, httpCredentials } from "../model/stores/http.ts";
import type { StateLocation, StoreType } from "../model/stores/index.ts";
import { type PostgresLocation, postgres } from "../model/stores/postgres.ts";
import { placedBy, type S3Location } from "../model/stores/s3.ts";
import type { GetVariable } from "../model/stores/store.ts";
import { shownAddress } from "../model/userinfo.ts";
import { createFileStore } from "../state/file-store.ts";
import { shownHolder } from "../state/lock-words.ts";
import type { StateDriver } from "../state/remote/driver.ts";
import type { Holder, KeptStore } from "../state/store.ts";
import { addressOf } from "./locate-state.ts";
import type { Settings } from "./settings.ts";

interface StoreOptions {
  /** Of the manifest: a state of another name is refused. */
  readonly header: Header;
  /** Folder of the manifest: what cannot be stored during an apply is kept there. */
  readonly folder: string;
  /** True for the other end of a move, which may need credentials of its own. */
  readonly isOtherEnd?: boolean;
  /** Longest time for an answer of a shared store, in ms: that of --timeout. */
  readonly answerWithin?: number | undefined;
}

/** Opens the store at a location. Sends nothing, and throws nothing, before it is used. */
export function openStore(location: StateLocation, settings: Settings, options: StoreOptions): KeptStore {
  const store =
    location.type === "file"
      ? createFileStore({ ...location, name: options.header.name, hide: settings.secrets.hide })
      : lazyStore(addressOf(location), () => openRemote(location, settings, options));
  return withLease(store, settings);
}

type RemoteLocation = Exclude<StateLocation, FileLocation>;

async function openRemote(
  location: RemoteLocation,
  settings: Settings,
  options: StoreOptions,
): Promise<KeptStore> {
  const { isOtherEnd = false } = options;
  const file = settings.get("GRAPHFORM_CA_FILE");
  const ca = file === undefined ? {} : { ca: await readAuthority(file) };
  const [driver, { createRemoteStore }] = await Promise.all([
    drivers[location.type].open(location, { settings, isOtherEnd, ...ca }),
    import("../state/remote/create-remote-store.ts"),
  ]);
  const {
    header: { name },
    folder,
    answerWithin,
  } = options;
  return createRemoteStore(withShownHolders(driver, settings.secrets.hide), {
    ...{ name, answerWithin },
    erroredFile: join(folder, ".graphform", `${name}.errored.state.json`),
  });
}

/** A driver that searches for secrets in what other holders of the lock wrote. */
function withShownHolders(driver: StateDriver, hide: Hide): StateDriver {
  const shown = (holder: Holder): Holder => shownHolder(holder, hide);
  return {
    ...driver,
    async take(holder) {
      const taken = await driver.take(holder);
      return taken.is === "held" ? { ...taken, by: shown(taken.by) } : taken;
    },
    async renew(lease, holder) {
      const renewed = await driver.renew(lease, holder);
      return renewed.is === "lost" && renewed.to !== undefined
        ? { ...renewed, to: shown(renewed.to) }
        : renewed;
    },
    async holder() {
      const holder = await driver.holder();
      return holder && shown(holder);
    },
  };
}

function lazyStore(where: string, open: () => Promise<KeptStore>): KeptStore {
  let opened: Promise<KeptStore> | undefined;
  /** Set before anything can be written. */
  let loaded: KeptStore | undefined;
  const store = async (): Promise<KeptStore> => {
    opened ??= open();
    loaded = await opened;
    return loaded;
  };
  return {
    /** With the host and the database that the environment names, once it is open. */
    get where() {
      return loaded?.where ?? where;
    },
    read: async () => (await store()).read(),
    write: async (next) => (await store()).write(next),
    append: async (next) => (await store()).append(next),
    keep: (event) => loaded?.keep?.(event),
    unpushed: async () => (await store()).unpushed?.(),
    lock: async (operation, options) => (await store()).lock(operation, options),
    holder: async () => (await store()).holder(),
    unlock: async (id, options) => (await store()).unlock(id, options),
    readText: async () => (await store()).readText(),
    replaceText: async (text, expected) => (await store()).replaceText(text, expected),
    history: async () => (await store()).history(),
    readVersion: async (id) => (await store()).readVersion(id),
    prepare: async () => (await store()).prepare(),
    probe: async () => (await store()).probe(),
    async close(): Promise<void> {
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

function withLease(store: KeptStore, settings: Settings): KeptStore {
  if (settings.get("GRAPHFORM_STATE_LEASE") === undefined) return store;
  return {
    ...store,
    get where() {
      return store.where;
    },
    async lock(operation, options) {
      const lease = stateLease(settings);
      return store.lock(operation, { ...defined({ lease }), ...options });
    },
    async prepare() {
      stateLease(settings);
      return store.prepare();
    },
    async probe() {
      stateLease(settings);
      return store.probe();
    },
  };
}

/** The text of the file of an authority. Throws `authority-unreadable`. */
export async function readAuthority(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    const message = `the CA file ${file} cannot be read: ${fileTrouble(cause)}`;
    const hint = "GRAPHFORM_CA_FILE must name a PEM file; the local platform creates its own when it starts";
    throw new GraphformError("authority-unreadable", message, { hint, cause });
  });
}

/** A shorter lease runs out between two renewals; a longer one keeps a state of a dead run locked for days. In ms. */
const [shortest, longest] = [1000, 24 * 3_600_000];

/** The lease of GRAPHFORM_STATE_LEASE in ms; undefined if it is not set. Throws `state-lease` for any other text. */
export function stateLease(settings: Settings): number | undefined {
  const text = settings.get("GRAPHFORM_STATE_LEASE");
  if (text === undefined) return undefined;
  const lease = parseDuration(text);
  if (lease !== undefined && lease >= shortest && lease <= longest) return lease;
  throw new GraphformError(
    "state-lease",
    `GRAPHFORM_STATE_LEASE is ${JSON.stringify(shownAddress(text).slice(0, 40))}`,
    { hint: `write a duration from ${formatDuration(shortest)} to ${formatDuration(longest)}, like 60s` },
  );
}

interface DriverOptions {
  readonly settings: Settings;
  /** True for the other end of a move, which may need credentials of its own. */
  readonly isOtherEnd: boolean;
  /** PEM text of authorities to trust besides the system's. */
  readonly ca?: string;
}

/** Opens the driver of a location with the credentials of the environment. Throws `state-credentials`. */
interface Opener {
  open(location: StateLocation, options: DriverOptions): Promise<StateDriver>;
}

export const drivers: { readonly [type in Exclude<StoreType, "file">]: Opener } = {
  http: {
    async open({ type: _, ...location }: HttpLocation, { settings, isOtherEnd, ...ca }) {
      const { createHttpDriver } = await import("../state/remote/http/http-driver.ts");
      const { value } = httpCredentials(location, settings.variable, isOtherEnd);
      return createHttpDriver({ ...location, ...ca }, () => value);
    },
  },
  s3: {
    async open(location: S3Location, { settings, isOtherEnd: _, ...ca }) {
      const { createS3Driver } = await import("../state/remote/s3/s3-driver.ts");
      const { awsCredentials } = await import("../state/remote/s3/aws-credentials.ts");
      const environment = settings.environment();
      const { type: __, ...placed } = placedBy(location, settings.variable);
      const credentials = awsCredentials({ environment, ...ca, ...defined({ region: placed.region }) });
      return createS3Driver({ ...placed, ...ca }, credentials);
    },
  },
  postgres: {
    async open({ type: _, ...location }: PostgresLocation, { settings, isOtherEnd }) {
      const { createPostgresDriver } = await import("../state/remote/postgres/postgres-driver.ts");
      return createPostgresDriver(location, postgresValues(settings.variable, isOtherEnd));
    },
  },
};

/** The variables that a database of a state is found and signed in to with, by the name that PostgreSQL has for each. */
export function postgresValues(
  variable: GetVariable,
  isOtherEnd = false,
): { readonly [variable: string]: string } {
  const { statePostgresUrl, stateToPostgresUrl, ...own } = postgres.variables;
  const url = variable((isOtherEnd ? stateToPostgresUrl : statePostgresUrl).name);
  const ambient = Object.values(own).map(({ name }) => [name, variable(name)]);
  const given = [...ambient, [statePostgresUrl.name, url]].filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}
