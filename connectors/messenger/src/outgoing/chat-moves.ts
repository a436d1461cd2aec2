import { errorText, type ConnectorState, type StartContext } from '@svc/connector-kit';

/** Groups that became supergroups, which changed their id. */
export type ChatMoves = {
  /** The present id of a chat. */
  current(chat: number | string): number | string;
  /** Resolves when the move is stored. */
  moved(from: number | string, to: number): Promise<void>;
};

const prefix = 'moved:';

export async function openChatMoves(state: ConnectorState, log: StartContext['log']): Promise<ChatMoves> {
  const rows = await state.list(prefix);
  const moves = new Map(rows.map(({ key, value }) => [key.slice(prefix.length), Number(value)]));
  return {
    current: (chat) => moves.get(String(chat)) ?? chat,
    async moved(from, to) {
      moves.set(String(from), to);
      await state.set(prefix + String(from), to).catch((error: unknown) => {
        log('error', 'the new ID of a group could not be saved', { error: errorText(error) });
      });
    },
  };
}
