import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';

/** An uploaded archive, known by its content. */
export interface Artifact {
  sha256: string;
  format: 'tar.gz' | 'zip';
  bytes: number;
  /** The `longshore.json` of the archive; null when it has none. */
  manifest: unknown;
  signature: unknown;
  createdBy: string;
  createdAt: string;
}

interface ArtifactRow extends Omit<Artifact, 'bytes' | 'createdAt'> {
  bytes: string;
  createdAt: Date;
}

const COLUMNS = `sha256, format, bytes::text, manifest, signature, created_by as "createdBy",
  created_at as "createdAt"`;

const INSERT = statement<ArtifactRow>(
  'insert_artifact',
  `insert into longshore.artifact (tenant, sha256, format, bytes, manifest, signature, created_by)
   values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7)
   on conflict (tenant, sha256) do update
     set removed_at = null, created_by = excluded.created_by, created_at = excluded.created_at,
       signature = excluded.signature
     where artifact.removed_at is not null
   returning ${COLUMNS}`,
);

/** An archive can be signed after its first upload, or by another key. */
const SIGN = statement<ArtifactRow>(
  'sign_artifact',
  `update longshore.artifact set signature = $3::jsonb
   where tenant = $1 and sha256 = $2 and removed_at is null
     and signature is distinct from $3::jsonb
   returning ${COLUMNS}`,
);

const FIND = statement<ArtifactRow>(
  'find_artifact',
  `select ${COLUMNS} from longshore.artifact
   where tenant = $1 and sha256 = $2 and removed_at is null`,
);

export type NewArtifact = Pick<Artifact, 'sha256' | 'format' | 'bytes' | 'manifest' | 'signature'>;

/** The same content again is the same artifact: `created` is false. */
export async function addArtifact(
  db: Db,
  tenant: string,
  by: Actor,
  artifact: NewArtifact,
): Promise<{ artifact: Artifact; created: boolean }> {
  const { sha256, format, bytes, manifest, signature } = artifact;
  const values = [tenant, sha256, format, bytes, jsonOf(manifest), jsonOf(signature), by.name];
  const made = await db.transaction(async (tx) => {
    const [row] = await tx.run(INSERT, values);
    if (row) {
      const entry = { tenant, action: 'artifact.upload', subject: sha256, after: { bytes } };
      await audit(tx, by, entry);
    }
    if (!row && signature !== null) {
      const [signed] = await tx.run(SIGN, [tenant, sha256, jsonOf(signature)]);
      const entry = { tenant, action: 'artifact.sign', subject: sha256 };
      if (signed) await audit(tx, by, entry);
    }
    return row;
  });
  const found = made ? viewOf(made) : await findArtifact(db, tenant, sha256);
  if (!found) throw new Error('the artifact was deleted meanwhile');
  return { artifact: found, created: made !== undefined };
}

export async function findArtifact(
  db: Queryable,
  tenant: string,
  sha256: string,
): Promise<Artifact | null> {
  const [row] = await db.run(FIND, [tenant, sha256]);
  return row ? viewOf(row) : null;
}

function viewOf({ bytes, createdAt, ...row }: ArtifactRow): Artifact {
  return { ...row, bytes: Number(bytes), createdAt: createdAt.toISOString() };
}

function jsonOf(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
