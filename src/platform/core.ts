import type { Events } from "./control/events.ts";
import type { Faults } from "./control/faults.ts";
import type { Lifecycle } from "./control/lifecycle.ts";
import type { Databases } from "./databases/databases.ts";
import type { Dialect } from "./dialect/dialect.ts";
import type { BodyBudget } from "./http/body-budget.ts";
import type { Credentials } from "./http/credentials.ts";
import type { KnownSecrets } from "./http/known-secrets.ts";
import type { PageSessions } from "./http/page-sessions.ts";
import type { RequestLog } from "./http/request-log.ts";
import type { Sessions } from "./http/sessions.ts";
import type { InstanceTypes } from "./model/instance-types.ts";
import type { StorageTrouble } from "./model/storage-trouble.ts";
import type { Store } from "./model/store.ts";
import type { Settings } from "./options.ts";

/** A running platform without its server: what the routes work with. */
export interface Core {
  readonly settings: Settings;
  /** How requests and answers are spelled. */
  readonly dialect: Dialect;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly pageSessions: PageSessions;
  readonly store: Store;
  /** What could not be written. */
  readonly trouble: StorageTrouble;
  readonly lifecycle: Lifecycle;
  readonly databases: Databases;
  readonly faults: Faults;
  readonly events: Events;
  readonly log: RequestLog;
  readonly secrets: KnownSecrets;
  readonly instanceTypes: InstanceTypes;
  /** The password of an instance that was created without one. */
  readonly generatedPassword: (instanceId: string) => string;
  /** The password of what observes an instance, where the dialect shows one. */
  readonly observerPassword: (instanceId: string) => string;
  /** Both hosts are one server, so that cookies reach the users host. */
  readonly sharesPort: boolean;
  /** The file of a snapshot; the region is a folder. */
  readonly snapshotFile: (region: string, snapshotId: string) => string;
  /** Memory for the bodies of requests that are at work: of those who are signed in, and of all others together. */
  readonly bodyBudgets: { readonly signedIn: BodyBudget; readonly anonymous: BodyBudget };
  readonly now: () => number;
  /** Milliseconds that only grow, whatever is done to the clock: for ages and limits. */
  readonly elapsed: () => number;
  /** The current time, ISO 8601; never twice the same, so that records sort in the order they were made. */
  readonly timestamp: () => string;
}
