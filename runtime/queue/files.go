//go:build !lean

package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// archiveLocks is the class of the advisory locks on archives. Submitters take shared locks, removal an exclusive one.
const archiveLocks = 0x79617263

// bringing stores the archive of a submission and then calls do, which inserts the jobs or the schedule. A lock
// prevents the removal of the archive meanwhile. The database records the digest before the archive is stored, so that
// tidy removes the archive if the submission fails.
func (q *Queue) bringing(ctx context.Context, f *Files, do func(*pgxpool.Conn) error) error {
	return q.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		if f == nil {
			return do(c)
		}
		if _, err := c.Exec(ctx, `SELECT pg_advisory_lock_shared($1, hashtext($2))`, archiveLocks, f.Digest); err != nil {
			return err
		}
		defer func() { // the end of the session releases the lock too
			_, _ = c.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock_shared($1, hashtext($2))`, archiveLocks,
				f.Digest)
		}()
		_, err := c.Exec(ctx, `INSERT INTO yamlhost_files (digest) VALUES ($1) ON CONFLICT DO NOTHING`, f.Digest)
		if err != nil {
			return err
		}
		if err := f.In.PutArchive(f.Digest, f.Content); err != nil {
			return fmt.Errorf("keep the archive of the projects: %w", err)
		}
		return do(c)
	})
}

// unused selects the archives that no unfinished job and no schedule uses. Its parameter is the kind of our jobs.
const unused = `SELECT digest FROM yamlhost_files f WHERE NOT EXISTS (SELECT 1 FROM river_job j WHERE
		j.state IN ('available', 'pending', 'running', 'retryable', 'scheduled') AND j.kind = $1
		AND j.args->'source'->>'archive' = f.digest)
	AND NOT EXISTS (SELECT 1 FROM yamlhost_schedules s, jsonb_array_elements(s.submission->'jobs') AS j
		WHERE j->'source'->>'archive' = f.digest)`

// tidy removes unused archives.
func (q *Queue) tidy(ctx context.Context, archives Archives) error {
	rows, _ := q.pool.Query(ctx, unused, Job{}.Kind()) // the error is also in rows
	digests, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, digest := range digests {
		err := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error {
			var free bool
			err := tx.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1, hashtext($2))`, archiveLocks, digest).Scan(&free)
			if err != nil || !free {
				return err
			}
			removed, err := tx.Exec(ctx, `DELETE FROM yamlhost_files WHERE digest = $2 AND digest IN (`+unused+`)`,
				Job{}.Kind(), digest)
			if err != nil || removed.RowsAffected() == 0 { // a new submission uses it
				return err
			}
			return archives.RemoveArchive(digest)
		})
		if err != nil {
			return fmt.Errorf("remove the archive %s: %w", digest[:10], err)
		}
	}
	return nil
}

// unpack extracts an archive into the empty folder dir and verifies its digest.
func unpack(archives Archives, digest, dir string) error {
	content, err := archives.Archive(digest)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backend of this worker does not have the archive %s: the worker needs the same "+
			"PULUMI_BACKEND_URL as the one who submitted the job", digest[:10])
	}
	if err != nil {
		return err
	}
	sum := sha256.New()
	counted := io.TeeReader(content, sum)
	if err := Unpack(counted, dir); err != nil {
		return fmt.Errorf("unpack the archive %s: %w", digest[:10], err)
	}
	if _, err := io.Copy(io.Discard, counted); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != digest {
		return fmt.Errorf("the archive %s is damaged: its content has another digest", digest[:10])
	}
	return nil
}
