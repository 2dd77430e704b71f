/** @module Opens the store of a state; its driver is loaded when the store is used first. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileTrouble } from "../files/file-trouble.ts";
import { GraphformError, shellWord } from "../model/errors.ts";
import { defined } from "../model/json.ts";
import type { Hide } from "../model/known-secrets.ts";
import type { Header } from "../model/manifest.ts";
import { formatDuration, parseDuration } from "../model/quantity.ts";
import type { FileLocation } from "../model/stores/file.ts";
import type { StateLocation } from "../model/stores/index.ts";
import { redactedAddress } from "../model/userinfo.ts";
import { createFileStore } from "../state/file-store.ts";
import { redactedHolder } from "../state/lock-words.ts";
import type { OpenDriver, StateDriver } from "../state/remote/driver.ts";
import type { DurableStore, Holder } from "../state/store.ts";
import { addressOf } from "./locate-state.ts";
import type { Settings } from "./settings.ts";

interface StoreOptions {
  /** The header of the manifest: a state of another name is refused. */
  readonly header: Header;
  /** Folder of the manifest: what cannot be stored during an apply is kept there. */
  readonly folder: string;
  /** True for the other end of a move, which may need credentials of its own. */
  readonly isOtherEnd?: boolean;
  /** Longest time for an answer of a shared store, in ms: that of --timeout. */
  readonly answerWithin?: number | undefined;
}

/** Opens the store at a location. Sends nothing, and throws nothing, before it is used. */
export function openStore(location: StateLocation, settings: Settings, options: StoreOptions): DurableStore {
  const store =
    location.type === "file"
      ? createFileStore({ ...location, name: options.header.name, hide: settings.secrets.hide })
      : lazyStore(addressOf(location), () => openRemote(location, settings, options));
  return withLease(store, settings);
}

type RemoteLocation = Exclude<StateLocation, FileLocation>;

/** Loads the driver of a shared store by its name. The bundler finds all of them; the comment lets a test add one. */
async function loadDriver(
  type: RemoteLocation["type"],
): Promise<{ readonly openDriver: OpenDriver<RemoteLocation> }> {
  return import(/* @vite-ignore */ `../state/remote/${type}/${type}-driver.ts`);
}

async function openRemote(
  location: RemoteLocation,
  settings: Settings,
  options: StoreOptions,
): Promise<DurableStore> {
  const { header, folder, isOtherEnd = false, answerWithin } = options;
  const file = settings.get("GRAPHFORM_CA_FILE");
  const ca = file === undefined ? {} : { ca: await readAuthority(file) };
  const [{ openDriver }, { createRemoteStore }] = await Promise.all([
    loadDriver(location.type),
    import("../state/remote/create-remote-store.ts"),
  ]);
  const { variable, environment } = settings;
  const driver = openDriver(location, { variable, environment, isOtherEnd, ...ca });
  const { name } = header;
  return createRemoteStore(withRedactedHolders(driver, settings.secrets.hide), {
    ...{ name, answerWithin, place: ` --state ${shellWord(addressOf(location))}` },
    erroredFile: join(folder, ".graphform", `${name}.errored.state.json`),
  });
}

/** A driver that searches for secrets in what other holders of the lock wrote. */
function withRedactedHolders(driver: StateDriver, hide: Hide): StateDriver {
  const redacted = (holder: Holder): Holder => redactedHolder(holder, hide);
  return {
    ...driver,
    async take(holder) {
      const taken = await driver.take(holder);
      return taken.is === "held" ? { ...taken, by: redacted(taken.by) } : taken;
    },
    async renew(lease, holder) {
      const renewed = await driver.renew(lease, holder);
      return renewed.is === "lost" && renewed.to !== undefined
        ? { ...renewed, to: redacted(renewed.to) }
        : renewed;
    },
    async holder() {
      const holder = await driver.holder();
      return holder && redacted(holder);
    },
  };
}

function lazyStore(where: string, open: () => Promise<DurableStore>): DurableStore {
  let opened: Promise<DurableStore> | undefined;
  /** Set before anything can be written. */
  let loaded: DurableStore | undefined;
  const store = async (): Promise<DurableStore> => {
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
    spool: (event) => loaded?.spool?.(event),
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

function withLease(store: DurableStore, settings: Settings): DurableStore {
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
    `GRAPHFORM_STATE_LEASE is ${JSON.stringify(redactedAddress(text).slice(0, 40))}`,
    { hint: `write a duration from ${formatDuration(shortest)} to ${formatDuration(longest)}, like 60s` },
  );
}
