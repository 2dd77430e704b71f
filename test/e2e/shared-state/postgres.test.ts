import { playSharedState } from "./suite.ts";

playSharedState("postgres");
