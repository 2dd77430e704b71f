/** @module Lists the parts of a running platform that routes and operations work with. */
import type { Faults } from "./control/faults.ts";
import type { Lifecycle } from "./control/lifecycle.ts";
import type { Parts } from "./control/record-state.ts";
import type { Dialect } from "./dialect/dialect.ts";
import type { BodyBudget } from "./http/contract.ts";
import type { Credentials, Tokens } from "./http/credentials.ts";
import type { KnownSecrets, RequestLog } from "./http/request-log.ts";
import type { Sessions } from "./http/sessions.ts";
import type { InstanceTypes } from "./model/instance-types.ts";
import type { StorageTrouble } from "./model/service-error.ts";

export interface Core extends Parts {
  readonly dialect: Dialect;
  readonly credentials: Credentials;
  readonly sessions: Sessions;
  /** Keys of one-time links to the page, and its sessions, which give access to the page only. */
  readonly page: { readonly keys: Tokens; readonly sessions: Tokens };
  readonly trouble: StorageTrouble;
  readonly lifecycle: Lifecycle;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly secrets: KnownSecrets;
  readonly instanceTypes: InstanceTypes;
  /** Signs sessions, and makes the passwords that the platform gives itself. */
  readonly key: Buffer;
  /** The platform host and the users host share one port, so that cookies reach both. */
  readonly sharesPort: boolean;
  /** Memory limits for request bodies: one for signed-in clients, one for all others together. */
  readonly bodyBudgets: { readonly signedIn: BodyBudget; readonly anonymous: BodyBudget };
}
