/** @module Defines what pipelines need of GitHub and GitLab: comments on a proposed change, and issues. */

/** A comment or an issue whose author may be believed: it is ours, if its first line has our marker. */
export interface Post {
  /** Id of a comment, number of an issue. */
  readonly id: number;
  readonly body: string;
}

/** Fields of an issue. */
export interface IssueText {
  readonly title: string;
  readonly body: string;
}

/** The part of a forge's API that reports go through. Every call rejects with a `forge-` error. */
export interface Forge {
  readonly name: "GitHub" | "GitLab";
  /** Link to the run of the pipeline, and the commit that it is about. Undefined outside of a pipeline. */
  readonly run: { readonly url: string; readonly commit: string | undefined } | undefined;
  /** Comments on the proposed change, oldest first, by authors that may be believed. */
  comments(): Promise<readonly Post[]>;
  addComment(body: string): Promise<void>;
  editComment(id: number, body: string): Promise<void>;
  /** Open issues with the label, oldest first, by authors that may be believed. */
  openIssues(label: string): Promise<readonly Post[]>;
  addIssue(issue: IssueText, label: string): Promise<void>;
  editIssue(id: number, issue: IssueText, state: "open" | "closed"): Promise<void>;
}
