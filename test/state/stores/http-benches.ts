import { onTestFinished } from "vitest";
import type { HttpCredentials as HttpSignIn } from "../../../src/model/stores/http.ts";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import { createHttpDriver } from "../../../src/state/remote/http/http-driver.ts";
import {
  type ServerDialect,
  startTerraformServer,
  type TerraformServer,
} from "../../support/terraform-server.ts";
import { driverBench, type StoreBench } from "./store-bench.ts";

/** An empty state on a server of Terraform's protocol, with habits of its own. */
export async function httpBench(
  dialect: ServerDialect,
  manners: TerraformServer["manners"] = {},
): Promise<StoreBench> {
  const server = await startTerraformServer(dialect);
  onTestFinished(() => server.close());
  server.manners = manners;
  const readerOnly = "glpat-reads-0nly";
  server.readers.add(readerOnly);
  const open = (signIn: HttpSignIn): StateDriver => {
    const lockAddress = dialect === "plain" ? { lockAddress: server.lockAddress } : {};
    const driver = createHttpDriver({ address: server.address, settle: 0, ...lockAddress }, () => signIn);
    onTestFinished(() => driver.close());
    return driver;
  };
  const bench = await driverBench({
    driver: () => open(server),
    denied: () => open({ token: "wrong" }),
    withoutLock: () => open({ token: readerOnly }),
    put: async (text) => {
      server.document = text;
    },
  });
  return dialect === "gitlab" ? { ...bench, showsOperation: false } : bench;
}
