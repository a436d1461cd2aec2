import { span, wrapSpans } from '../screen/spans.ts';
import type { ChatScreen } from './chat-screen.ts';

/** A whole text as an answer. */
export function showText(screen: Pick<ChatScreen, 'openTurn' | 'print' | 'columns'>, text: string, isError: boolean): void {
  if (isError) return screen.print(wrapSpans([span('✗ ', 'red'), span(text)], screen.columns()));
  const view = screen.openTurn(null);
  view.show({ type: 'segment', text });
  view.finish({ type: 'result', result: { actions: [], outcome: 'replied', conversation_key: '', turn_id: '' } });
}
