import { type Query, QueryClient, useMutation, useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { ApiFault, call, type CallOptions, get, type Method } from './api.ts';
import { toast, toastFault } from './toast.tsx';
import { noteSaved } from './use-typed.ts';

/** What was read stays shown while it is read again, also when the service is away. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: true,
      // A refusal stays one; the network may come back.
      retry: (count, error) => !(error instanceof ApiFault && error.status < 500) && count < 3,
      networkMode: 'always',
    },
  },
});

/** What a path of the service says; null reads nothing. `everyMs`: read again so often. */
export const useApi = <T>(path: string | null, everyMs?: number): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: [path],
    queryFn: ({ signal }) => get<T>(path ?? '', signal),
    enabled: path !== null,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  });

/** Read by a person's act alone. */
const proven = { meta: { isProven: true }, refetchOnWindowFocus: false, refetchOnReconnect: false };

/**
 * The same for what wants a second factor: read when it is opened, and when it was changed. By itself it is not read again, because the person
 * would be asked for a code then.
 */
export const useProvenApi = <T>(path: string): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: [path],
    queryFn: ({ signal }) => get<T>(path, signal),
    ...proven,
  });

/** The same of what a `POST` asks for, such as a call into a channel. */
export const useProvenCall = <T>(path: string, body: object): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: [path, body],
    queryFn: ({ signal }) => call<T>('POST', path, { body, signal }),
    ...proven,
  });

export type Change = { method: Method; path: string } & Pick<CallOptions, 'body' | 'headers' | 'timeoutMs'>;
type ChangeOptions<T> = {
  /** Paths, or beginnings of paths, that say something else from now on. */
  changes?: readonly string[];
  /** Said when it is done. */
  done?: string;
  onDone?(answer: T): void;
  /** What goes out, or comes back, is a secret: it is not kept when the act is over. */
  isSecret?: boolean;
  /** A field shows why it was refused. */
  hasPlace?: boolean;
};

/** An act of the person, once at a time: says when it is done and when it is not, and has read again what it changed. */
export function useAct<T = unknown>({ changes = [], done, onDone, isSecret = false, hasPlace = false }: ChangeOptions<T> = {}) {
  const client = useQueryClient();
  const takeBack = useRef<() => void>(undefined);
  // A second press can come before the page has the button off.
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

/** Has everything read again whose path begins with one of these. */
export async function refresh(client: QueryClient, paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await client.invalidateQueries({ predicate: (query) => isOf(query, paths) });
}

/** The same where no person has asked for it: what wants a second factor is only known to be old, and read when it is opened next. */
export async function refreshUnasked(client: QueryClient, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  await client.invalidateQueries({ predicate: (query) => isOf(query, paths), refetchType: 'none' });
  await client.refetchQueries({ predicate: (query) => isOf(query, paths) && query.meta?.['isProven'] !== true, type: 'active' });
}

const isOf = ({ queryKey: [path] }: Query, paths: readonly string[]): boolean =>
  typeof path === 'string' && paths.some((begin) => path.startsWith(begin));
