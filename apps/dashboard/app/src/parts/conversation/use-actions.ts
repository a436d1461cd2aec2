import { useCallback, useEffect } from 'react';
import { ApiFault, call } from '../api.ts';
import { toast } from '../toast.tsx';

/** The actions on a conversation: stop its turn (also by Ctrl or ⌘ with the full stop), answer a question of its engine. */
export function useActions(conversationKey: string) {
  /** Resolves when the turn is over, also if it has ended by itself meanwhile. */
  const stop = useCallback(async (): Promise<void> => {
    try {
      await call('POST', '/core/v2/abort', { body: { conversation_key: conversationKey } });
    } catch (error) {
      if (error instanceof ApiFault && error.status === 404) return;
      toast(error instanceof Error ? error.message : String(error), 'fault');
    }
  }, [conversationKey]);

  /** Why it could not be answered; null when it was. */
  const answer = useCallback(
    (askId: string, option: string): Promise<string | null> =>
      call('POST', '/chat/answer', { body: { ask_id: askId, option, conversation_key: conversationKey } }).then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    [conversationKey],
  );

  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '.' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [stop]);
  return { stop, answer };
}
