import type { AppServer } from '../app-server.ts';

type Answer = (params: Record<string, unknown>) => unknown;

export type FakeAppServer = {
  server: AppServer;
  /** Ends it, at once or some time after it was told to end. */
  fall(reason?: string): void;
};

/** An app-server without a process. A method that is missing from `answers` is never answered, as by a program that hangs. */
export function createFakeAppServer(
  answers: Record<string, Answer> = {},
  subscribe: AppServer['subscribe'] = () => () => {},
): FakeAppServer {
  const ending = new AbortController();
  const { promise: ended, resolve: setEnded } = Promise.withResolvers<Awaited<AppServer['ended']>>();
  const end = () => {
    ending.abort();
    return ended.then(() => undefined);
  };
  const gone = ended.then(({ reason }) => Promise.reject(new Error(reason)));
  gone.catch(() => undefined);
  const server: AppServer = {
    request: <Result>(method: string, params: object) => {
      const answer = answers[method]?.(params as Record<string, unknown>);
      return Promise.race([gone, answer === undefined ? new Promise<Result>(() => undefined) : (answer as Result)]);
    },
    pid: undefined,
    ended,
    ending: ending.signal,
    stop: end,
    kill: end,
    endOrphans: () => Promise.resolve(),
    subscribe,
    answerFor: () => () => undefined,
  };
  const fall = (reason = 'codex ended with SIGKILL') => {
    ending.abort();
    setEnded({ code: null, signal: 'SIGKILL', overflow: null, reason });
  };
  return { server, fall };
}
