import type { Plugin } from "esbuild";

/** What of undici the client uses; a build that imports anything else from it fails and says so. */
const contents = `
  import Agent from "undici/lib/dispatcher/agent.js";
  import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
  import api from "undici/lib/api/index.js";
  Object.assign(Dispatcher.prototype, api);
  export { Agent };
`;

/**
 * Bundles undici without its fetch, its mocks, caches and web sockets. Its index loads all of them at once, which would
 * make every command that speaks to the service start 8 ms later. It is CommonJS, so the bundler cannot tell.
 */
export const leanUndici: Plugin = {
  name: "lean undici",
  setup({ initialOptions, onLoad, onResolve }) {
    const resolveDir = initialOptions.absWorkingDir ?? ".";
    onResolve({ filter: /^undici$/ }, () => ({ path: "undici", namespace: "lean" }));
    onLoad({ filter: /./, namespace: "lean" }, () => ({ contents, resolveDir }));
  },
};
