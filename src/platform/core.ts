/** @module Lists the parts of a running platform that routes and operations work with. */
import type { Events } from "./control/events.ts";
import type { Faults } from "./control/faults.ts";
import type { Lifecycle } from "./control/lifecycle.ts";
import type { Databases } from "./databases/databases.ts";
import type { Dialect } from "./dialect/dialect.ts";
import type { Credentials } from "./http/credentials.ts";
import type { KnownSecrets } from "./http/known-secrets.ts";
import type { PageSessions } from "./http/page-sessions.ts";
import type { BodyBudget } from "./http/read-body.ts";
import type { RequestLog } from "./http/request-log.ts";
import type { Sessions } from "./http/sessions.ts";
import type { Store } from "./model/collection.ts";
import type { InstanceTypes } from "./model/instance-types.ts";
import type { StorageTrouble } from "./model/service-error.ts";
import type { Settings } from "./options.ts";

/** A running platform without its HTTP server. */
export interface Core {
  readonly settings: Settings;
  /** Keys and spellings of requests and answers. */
  readonly dialect: Dialect;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  readonly pageSessions: PageSessions;
  readonly store: Store;
  /** Counts of failed writes. */
  readonly trouble: StorageTrouble;
  readonly lifecycle: Lifecycle;
  readonly databases: Databases;
  readonly faults: Faults;
  readonly events: Events;
  readonly log: RequestLog;
  readonly secrets: KnownSecrets;
  readonly instanceTypes: InstanceTypes;
  /** The generated password of an instance that was created without one. */
  readonly generatedPassword: (instanceId: string) => string;
  /** The password of an instance's observability endpoint, for dialects that show one. */
  readonly observerPassword: (instanceId: string) => string;
  /** The platform host and the users host share one port, so that cookies reach both. */
  readonly sharesPort: boolean;
  /** Path of a snapshot's file; the region is a folder. */
  readonly snapshotFile: (region: string, snapshotId: string) => string;
  /** Memory limits for request bodies: one for signed-in clients, one for all others together. */
  readonly bodyBudgets: { readonly signedIn: BodyBudget; readonly anonymous: BodyBudget };
  readonly now: () => number;
  /** Monotonic milliseconds, for ages and limits: the system's clock may be set. */
  readonly elapsed: () => number;
  /** The current time, ISO 8601; never the same twice, so that records sort in the order of their creation. */
  readonly timestamp: () => string;
}
