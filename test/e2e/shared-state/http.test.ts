import { playSharedState } from "./suite.ts";

playSharedState("http, gitlab");
