import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';

/** Delivers a mail by LMTP to a server on loopback, for one of its users, with CRLF line ends. Rejects with the text of a refusal. */
export async function deliverMail(port: number, user: string, raw: Buffer | string, from = ''): Promise<void> {
  const connection = new SMTPConnection({ host: '127.0.0.1', port, lmtp: true, ignoreTLS: true, name: 'mx.home.example' });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('error', reject);
      connection.connect((refusal) => {
        if (refusal !== undefined && refusal !== null) return reject(refusal);
        connection.send({ from, to: user }, raw, (error, info) => {
          // The library does not treat LMTP's per-recipient replies after the text as errors.
          if (error !== null) reject(error);
          else if (info.response.startsWith('2')) resolve();
          else reject(new Error(info.response));
        });
      });
    });
  } finally {
    connection.close();
  }
}
