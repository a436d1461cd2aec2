import {
  keepPreviousData,
  type Query,
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { ApiFault, call, type CallOptions, get, type Method } from './api.ts';
import { toast, toastFault } from './toast.tsx';
import { noteSaved } from './use-typed.ts';

/** Data stays shown while it is read again, also when the service is not reachable. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: true,
      // A refusal would be the same again; the network may come back.
      retry: (count, error) => !(error instanceof ApiFault && error.status < 500) && count < 3,
      networkMode: 'always',
    },
  },
});

const read = <T>(path: string | null) => ({
  queryKey: [path],
  queryFn: ({ signal }: { signal: AbortSignal }) => get<T>(path ?? '', signal),
});

/**
 * The data of a path of the service; null reads nothing. `everyMs`: how often it is read again. `isList`: the path is a filter of a
 * list, so the previous data, and with it the focus, stays until the next data has arrived.
 */
export const useApi = <T>(path: string | null, everyMs?: number, isList = false): UseQueryResult<T> =>
  useQuery<T>({
    ...read<T>(path),
    enabled: path !== null,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(isList && { placeholderData: keepPreviousData }),
  });

/** The same for a list that must not move while a person reads it: it is loaded again when they ask for it, or when the connection has missed something. */
export const useStillList = <T>(path: string): UseQueryResult<T> =>
  useQuery<T>({
    ...read<T>(path),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: 'always',
  });

/** Read only when a person asks for it. */
const proven = { meta: { isProven: true }, refetchOnWindowFocus: false, refetchOnReconnect: false };

/**
 * The same for paths that require a second factor: read when opened, and after a change. They are not read again in the background, because the person
 * would be asked for a code.
 */
export const useProvenApi = <T>(path: string): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: [path],
    queryFn: ({ signal }) => get<T>(path, signal),
    ...proven,
  });

/** The same for reads by `POST`, such as a call into a channel. */
export const useProvenCall = <T>(path: string, body: object): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: [path, body],
    queryFn: ({ signal }) => call<T>('POST', path, { body, signal }),
    ...proven,
  });

export type Change = { method: Method; path: string } & Pick<CallOptions, 'body' | 'headers' | 'timeoutMs'>;
type ChangeOptions<T> = {
  /** Paths, or beginnings of paths, whose data the act changes. */
  changes?: readonly string[];
  /** Shown when it is done. */
  done?: string;
  onDone?(answer: T): void;
  /** The request or the answer is a secret: it is not kept after the act. */
  isSecret?: boolean;
  /** A form field shows why it was refused, so no message does. */
  hasPlace?: boolean;
};

/** An act of the person, one at a time: reports success and failure, and reads again what it changed. */
export function useAct<T = unknown>({ changes = [], done, onDone, isSecret = false, hasPlace = false }: ChangeOptions<T> = {}) {
  const client = useQueryClient();
  const takeBack = useRef<() => void>(undefined);
  // A second click can come before the button is disabled.
  const isUnderWay = useRef(false);
  const mutation = useMutation<T, Error, Change>({
    networkMode: 'always',
    ...(isSecret && { gcTime: 0 }),
    mutationFn: ({ method, path, ...options }) => call<T>(method, path, options).finally(() => (isUnderWay.current = false)),
    onMutate: () => takeBack.current?.(),
    onSuccess: async (answer) => {
      noteSaved();
      if (done !== undefined) toast(done);
      onDone?.(answer);
      await refresh(client, changes);
    },
    onError: (error) => {
      if (!hasPlace) takeBack.current = toastFault(error.message);
    },
  });
  const { mutate: begin } = mutation;
  const mutate = useCallback<typeof begin>(
    (change, options) => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      begin(change, options);
    },
    [begin],
  );
  return { ...mutation, mutate };
}

/** Reads everything again whose path begins with one of these. */
export async function refresh(client: QueryClient, paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await client.invalidateQueries({ predicate: (query) => isOf(query, paths) });
}

/** The same without a person's request: paths that require a second factor are only marked as old, and read when they are opened next. */
export async function refreshUnasked(client: QueryClient, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await client.invalidateQueries({ predicate: (query) => isOf(query, paths), refetchType: 'none' });
  await client.refetchQueries({ predicate: (query) => isOf(query, paths) && query.meta?.['isProven'] !== true, type: 'active' });
}

const isOf = ({ queryKey: [path] }: Query, paths: readonly string[]): boolean =>
  typeof path === 'string' && paths.some((begin) => path.startsWith(begin));
