import { onTestFinished } from "vitest";
import type { StateDriver } from "../../../src/state/remote/driver.ts";
import { createS3Driver } from "../../../src/state/remote/s3/s3-driver.ts";
import type { AwsKeys } from "../../../src/state/remote/s3/s3-request.ts";
import { startS3Server, xmlError } from "../../support/s3-server.ts";
import { driverBench, type StoreBench } from "./store-bench.ts";

/** An empty bucket on a server that checks signatures and conditions. */
export async function s3Bench(): Promise<StoreBench> {
  const server = await startS3Server();
  onTestFinished(() => server.close());
  const readerOnly = "the-session-of-a-reader";
  server.misbehave = ({ method, headers }) =>
    method !== "GET" && headers["x-amz-security-token"] === readerOnly
      ? xmlError(403, "AccessDenied")
      : undefined;
  const open = (keys: AwsKeys): StateDriver => {
    const options = { bucket: server.bucket, key: "teams/shop.json", endpoint: server.origin };
    const driver = createS3Driver(options, async () => keys);
    onTestFinished(() => driver.close());
    return driver;
  };
  const { accessKeyId, secretAccessKey } = server;
  return driverBench({
    driver: () => open({ accessKeyId, secretAccessKey }),
    denied: () => open({ accessKeyId, secretAccessKey: "wrong" }),
    withoutLock: () => open({ accessKeyId, secretAccessKey, sessionToken: readerOnly }),
    expire: async () => server.advance(62_000),
  });
}
