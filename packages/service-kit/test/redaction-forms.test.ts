import { describe, expect, test } from 'vitest';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';

const redactor = createRedactor([]);
const letters = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2W3x4Y5z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0o1P2q3R4s5T6u7V8w9X0';
const hex = '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef';
const id = Buffer.from('123456789012345678').toString('base64url');

describe('passwords in addresses', () => {
  test.each([
    ['https://joe:hunter2hunter2@x.io/', 'hunter2hunter2'],
    ['postgres://app:hunter2hunter2@db:5432/x', 'hunter2hunter2'],
    ['mysql://root:admin@db', 'admin'],
    ['mongodb+srv://app:correcthorse@cluster0.acme.net/db', 'correcthorse'],
    ['amqp://svc:winter2024@mq', 'winter2024'],
    ['amqps://svc:aaaabbbb@mq/vhost', 'aaaabbbb'],
    ['redis://:sunshine@cache:6379/0', 'sunshine'],
    ['rediss://default:abc/def+gh==@cache', 'abc/def+gh=='],
    ['git+https://bot:letmein@git.acme.io/a.git', 'letmein'],
    ['jdbc:postgresql://app:qwerty@db/x', 'qwerty'],
    ['jdbc:mysql://db/x?user=app&password=qwerty', 'qwerty'],
    ['jdbc:sqlserver://db;user=sa;password=qwerty;encrypt=true', 'qwerty'],
    ['jdbc:oracle:thin:scott/tiger@//db:1521/x', 'tiger'],
    ['smtp://me%40acme.io:p%40ssw%C3%B6rd@mail.acme.io', 'p%40ssw%C3%B6rd'],
    ['ftp://joe:p@ss@files.acme.io', 'p@ss'],
    ['DATABASE_URL=postgres%3A%2F%2Fapp%3Ahunter2hunter2%40db%2Fx', 'hunter2hunter2'],
    [String.raw`{"url":"postgres:\/\/app:hunter2hunter2@db\/x"}`, 'hunter2hunter2'],
    ['socks5://u:dragon12@127.0.0.1:1080', 'dragon12'],
    ['ldap://cn=admin:monkey99@ldap', 'monkey99'],
    ['custom.scheme-1://a:trustno1@[::1]/', 'trustno1'],
    ['(see postgres://app:hunter2hunter2@db/x).', 'hunter2hunter2'],
  ])('masks %s', (text, password) => {
    const masked = redactor.text(text);
    expect(masked).not.toContain(password);
    expect(masked).toContain('[redacted:password]');
  });

  test.each([
    'postgres://user:${PASSWORD}@db and postgres://user:$PASSWORD@db',
    'postgres://user:<password>@db and postgres://user:{password}@db and postgres://user:{{ .Password }}@db',
    'https://user:password@host, https://user:YOUR_PASSWORD@host, https://user:your-password@host',
    'mysql://user:pass@host, mysql://user:secret@host, mysql://user:****@host, mysql://user:xxxx@host',
    'amqp://guest:guest@localhost',
    'redis://:%s@localhost and %s://%s:%s@%s',
    'https://user:changeme@host and https://user:...@host and https://user:DB_PASSWORD@host',
    'http://localhost:3000/@vite/client and https://x.io:443/@scope/package',
    'https://x.io/a:b@c and mailto:a:b@c.io',
    'https://x.io/?password=true&pwd=<pwd>&password=[redacted:password]',
  ])('keeps placeholders: %s', (text) => expect(redactor.text(text)).toBe(text));
});

describe('tokens of the services used here, alone and within text', () => {
  test.each([
    ['Discord', `${id}.Gh3kLm.${letters.slice(0, 38)}`],
    ['Discord, older', `${id}.X-hvzA.${letters.slice(0, 27)}`],
    ['Discord, longer id', `${Buffer.from('1234567890123456789').toString('base64url')}.Gh3kLm.${letters.slice(0, 38)}`],
    ['Telegram', `123456789:AA${letters.slice(0, 33)}`],
    ['Telegram, longer id', `7123456789:AA${letters.slice(0, 33)}`],
    ['GitHub', `ghp_${letters.slice(0, 36)}`],
    ['GitHub, fine-grained', `github_pat_11ABCDEFG0${letters.slice(0, 11)}_${letters.slice(0, 59)}`],
    ['Slack', `xoxb-1234567890123-1234567890123-${letters.slice(0, 24)}`],
    ['Slack, app', `xapp-1-A0123456789-1234567890123-${hex}`],
    ['Slack, session', `xoxc-1234567890-1234567890-1234567890-${hex}`],
    ['Anthropic', `sk-ant-api03-${letters.slice(0, 93)}AA`],
    ['OpenAI project', `sk-proj-${letters.slice(0, 74)}T3BlbkFJ${letters.slice(0, 74)}`],
    ['OpenAI', `sk-${letters.slice(0, 20)}T3BlbkFJ${letters.slice(0, 20)}`],
    ['Gemini', `AIzaSy${letters.slice(0, 33)}`],
    ['ElevenLabs', `sk_${hex.slice(0, 48)}`],
    ['npm', `npm_${letters.slice(0, 36)}`],
    ['Groq', `gsk_${letters.slice(0, 52)}`],
    ['OpenRouter', `sk-or-v1-${hex}`],
    ['Hugging Face', 'hf_abcdEFGHijklMNOPqrstUVWXyzabCDEFgh'],
    ['AWS', 'AKIAQ3EGRLZ7T5XN2BWP'],
    ['Twilio', `SK${hex.slice(0, 32)}`],
    ['DeepSeek', `sk-${hex.slice(0, 32)}`],
    ['xAI', `xai-${letters.slice(0, 80)}`],
    ['Replicate', `r8_${letters.slice(0, 37)}`],
    ['Google OAuth', `GOCSPX-${letters.slice(0, 28)}`],
    ['Tailscale', `tskey-auth-${letters.slice(0, 12)}-${letters.slice(0, 32)}`],
  ])('masks %s', (_name, token) => {
    for (const text of [token, `It is ${token}, keep it.`, `{"v":"${token}"}`, `a=${token}\n`]) {
      const masked = redactor.text(text);
      expect(masked).not.toContain(token.slice(4));
      expect(masked).toContain('[redacted:');
    }
  });
});
