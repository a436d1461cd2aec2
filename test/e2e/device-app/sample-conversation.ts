import type { HistoryMessage, Session } from '@svc/contract/session.ts';
import type { ScriptedGateway } from './scripted-gateway.ts';

const begun = Date.now() - 20 * 60_000;

const message = (
  turn_id: string,
  role: HistoryMessage['role'],
  text: string,
  minute: number,
  more: Partial<HistoryMessage> = {},
): HistoryMessage => ({
  turn_id,
  message_id: role === 'user' ? `m-${turn_id}` : null,
  role,
  sender: 'd_1',
  text,
  at: begun + minute * 60_000,
  state: 'delivered',
  outcome: 'replied',
  attachments: [],
  tools: [],
  ...more,
});

const calendar = `Tomorrow you have **three appointments**:

| Time | What | Where |
|---|---|---|
| 09:00 | Stand-up | online |
| 12:30 | Lunch with Anna | Café Central |
| 16:00 | Dentist | Main Street 4 |

Rain is likely from 15:00 on: **take an umbrella** to the dentist. See the [forecast](https://weather.example/today).`;

const code = `This reads it and gives the hours with rain:

\`\`\`ts
const response = await fetch(\`https://weather.example/api?city=\${city}\`);
const { hours } = (await response.json()) as Forecast;
export const wet = hours.filter(({ rain }) => rain > 0.3);
\`\`\`

1. \`fetch\` answers with a \`Response\`.
2. Hours with a chance **over 30 %** are kept.

> Ask again tomorrow: forecasts change.`;

/** A sample conversation with most kinds of content. */
export const conversation = {
  history: [
    message('a', 'user', 'What is on my calendar tomorrow, and do I need an umbrella?', 1, {
      tools: [
        { id: '1', name: 'calendar_list', ok: true },
        { id: '2', name: 'weather', ok: true },
      ],
    }),
    message('a', 'assistant', calendar, 2),
    message('b', 'user', 'Show me how to fetch that forecast in TypeScript.', 5, {
      attachments: [{ path: '/uploads/notes.pdf', name: 'notes.pdf', mime: 'application/pdf' }],
    }),
    message('b', 'assistant', code, 6),
  ],
  sessions: [
    {
      conversation_key: 'messenger:m:user:1',
      title: 'Invoice for the printer',
      surface: 'messenger',
      state: 'idle',
      last_active_at: begun,
    },
    {
      conversation_key: 'chatroom:c:user:1',
      title: 'Deploy to staging failed',
      surface: 'chatroom',
      state: 'running',
      last_active_at: begun,
    },
  ] satisfies Partial<Session>[],
  /** A turn that asks before it acts, up to its question. */
  play(gateway: ScriptedGateway, turn_id: string, message_id: unknown): void {
    const send = (type: string, data: object) => gateway.send(type, { turn_id, ...data });
    send('inject', {
      origin: 'message',
      channel: 'device',
      sender: 'd_1',
      message_id,
      text: 'Clean up the old logs.',
      attachments: [],
    });
    send('thinking', { text: 'They want files removed. I ask first.' });
    send('tool', { id: 'x1', name: 'list_files', input: { path: '/srv/old' } });
    send('tool_result', { id: 'x1', ok: true, output: 'a.log\nb.log' });
    send('tool', { id: 'x2', name: 'shell', input: { command: 'rm -r /srv/old/logs' } });
    send('delta', { text: 'I found **2 files** that are no longer needed.' });
    const options = [
      { id: 'y', label: 'Allow', style: 'primary' },
      { id: 'n', label: 'Do not allow', style: 'danger' },
    ];
    send('ask', {
      ask: { id: 'q1', text: 'May I run rm -r /srv/old/logs?', options, for: 'p', expires_at: Date.now() + 600_000 },
    });
  },
};
