import { Octokit } from '@octokit/core';
import type { Endpoints, RequestParameters } from '@octokit/types';
import { pause } from '@svc/connector-kit/retry.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import { followWrites } from './follow-writes.ts';
import { notJson, notModified, toFault } from './to-fault.ts';

export type Route = keyof Endpoints;
type Params<R extends Route> = Endpoints[R]['parameters'] & RequestParameters;
export type Got<R extends Route> = { data: Endpoints[R]['response']['data']; headers: Record<string, string> };

/** GitHub's REST API with one token. Its errors never contain the token. */
export type GitHubApi = {
  /** Reads. Temporary errors are `unavailable` or `busy`. Null when nothing has changed since `if-none-match`. */
  read<R extends Route>(route: R, params: Params<R>, signal: AbortSignal): Promise<Got<R> | null>;
  /** Writes. An error without a code means that it is unknown whether the write was done. */
  write<R extends Route>(route: R, params: Params<R>, signal: AbortSignal): Promise<Got<R>['data']>;
  /** Who last edited an issue or a comment, and when; null if nobody has. @throws ServiceError `not_found` for a deleted one */
  lastEdit(nodeId: string, signal: AbortSignal): Promise<{ login: string | null; at: string | null } | null>;
};

/** Longest wait for an answer, ms. */
const answerMs = 12_000;
/** Reading again does no harm. */
const readTries = 3;
const quiet = { debug: noLog, info: noLog, warn: noLog, error: noLog };
function noLog(): void {
  // Every problem is in the thrown error.
}

const editQuery = 'query($id: ID!) { node(id: $id) { ... on Comment { lastEditedAt editor { login } } } }';
type EditAnswer = { node: { lastEditedAt?: string | null; editor?: { login: string } | null } | null };

export function createGitHubApi(token: string, apiUrl: string, clock: Clock = systemClock): GitHubApi {
  const baseUrl = apiUrl.replace(/\/+$/, '');
  const octokit = new Octokit({ auth: token, baseUrl, userAgent: 'svc-issues', log: quiet, request: { fetch: followWrites } });
  /** Nothing is asked before, by `clock.elapsed`: who goes on in spite of a limit is shut out. */
  let closedUntil = Number.NEGATIVE_INFINITY;
  /** The same for people. It stays one text while it lasts, so that it is logged once. */
  let until = '';

  async function within<T>(signal: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const leftMs = closedUntil - clock.elapsed();
    if (leftMs > 0)
      // What we hold back ourselves was refused once, and slowed the pace then.
      throw new ServiceError(
        'busy',
        `GitHub is limiting the rate of requests until ${until}. The connector continues automatically.`,
        {
          details: { retry_after_s: leftMs / 1000, global: true, keeps_pace: true },
        },
      );
    try {
      return await ask(AbortSignal.any([signal, AbortSignal.timeout(answerMs)]));
    } catch (error) {
      signal.throwIfAborted();
      const fault = toFault(error, clock.now());
      const seconds = fault instanceof ServiceError && fault.code === 'busy' && fault.details['global'] === true;
      if (seconds) {
        const pauseMs = Number(fault.details['retry_after_s']) * 1000;
        closedUntil = clock.elapsed() + pauseMs;
        until = timeOf(clock.now() + pauseMs);
      }
      throw fault;
    }
  }

  async function ask<R extends Route>(route: R, params: Params<R>, signal: AbortSignal): Promise<Got<R>> {
    return within(signal, async (ended) => {
      const request = octokit.request as (route: string, params: object) => Promise<Got<R> & { status: number }>;
      const { data, headers, status } = await request(route, { ...params, request: { signal: ended } });
      // An answer that was cut is an empty text here.
      if (status !== 204 && (typeof data !== 'object' || data === null)) throw notJson;
      return { data, headers };
    });
  }

  return {
    async read(route, params, signal) {
      for (let tries = 1; ; tries++) {
        try {
          return await ask(route, params, signal);
        } catch (error) {
          if (error === notModified) return null;
          if (error instanceof ServiceError || signal.aborted) throw error;
          if (tries >= readTries || !(await pause(clock, 250 * tries, signal))) throw unavailable(error);
        }
      }
    },
    write: async (route, params, signal) => (await ask(route, params, signal)).data,
    async lastEdit(id, signal) {
      try {
        const { node } = await within(signal, (ended) =>
          octokit.graphql<EditAnswer>(editQuery, { id, request: { signal: ended } }),
        );
        const { editor, lastEditedAt = null } = node ?? {};
        return editor === undefined || (editor === null && lastEditedAt === null)
          ? null
          : { login: editor?.login ?? null, at: lastEditedAt };
      } catch (error) {
        throw error instanceof ServiceError || signal.aborted ? error : unavailable(error);
      }
    },
  };
}

const unavailable = (error: unknown) =>
  new ServiceError('unavailable', error instanceof Error ? error.message : 'GitHub cannot be reached. Retrying.');

/** A time of day, as `14:05:30 UTC`. */
const timeOf = (at: number): string => `${new Date(at).toISOString().slice(11, 19)} UTC`;
