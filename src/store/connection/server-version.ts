import { Db, type DbOptions, statement } from './db.ts';

export interface ServerReport {
  /** Like "18.4". */
  version: string;
  /** Whether the settings that plans rely on (`SESSION`) are in force. */
  tuned: boolean;
  role: string;
  database: string;
}

const INSPECT = statement<ServerReport>(
  'inspect_server',
  `select split_part(current_setting('server_version'), ' ', 1) as version,
     current_setting('enable_seqscan') = 'off' and current_setting('jit') = 'off' as tuned,
     current_user::text as role, current_database()::text as database`,
);

/** Also the first test that the server can be reached with these settings. */
export async function inspectServer(
  options: Pick<DbOptions, 'url' | 'pooler' | 'log' | 'clock'>,
): Promise<ServerReport> {
  const db = Db.open({ ...options, max: 1 });
  try {
    const [report] = await db.run(INSPECT);
    if (!report) throw new Error('the database gave no answer');
    return report;
  } finally {
    await db.close();
  }
}
