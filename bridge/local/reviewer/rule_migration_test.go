package reviewer

import "testing"

func TestMigrations(t *testing.T) {
	t.Parallel()
	const name = "db/migrations/x.sql"
	sql := func(lines ...string) []file { return one(name, lines...) }
	runRule(t, "migration", []ruleTest{
		{"drop table", sql("DROP TABLE users;"), []string{"warning " + name + ":10 Migration drops a table or more"}},
		{"drop column over two lines", sql("alter table users", "  drop column email;"), []string{"warning " + name + ":10 Migration drops a column"}},
		{"type", sql("ALTER TABLE a ALTER COLUMN b TYPE bigint;"), []string{"warning " + name + ":10 Migration changes a column's type"}},
		{"mandatory without default", sql("ALTER TABLE a ADD COLUMN b int NOT NULL;"), []string{"warning " + name + ":10 Mandatory column without a default"}},
		{"set not null", sql("ALTER TABLE a ALTER COLUMN b SET NOT NULL;"), []string{"warning " + name + ":10 Migration makes a column mandatory"}},
		{"index", sql("SELECT 1;", "CREATE INDEX i ON users (email);"), []string{"info " + name + ":11 Index is built under a lock"}},
		{"truncate", sql("TRUNCATE audit;"), []string{"warning " + name + ":10 Migration empties a table"}},
		{"delete all", sql("DELETE FROM audit;"), []string{"warning " + name + ":10 Migration deletes every row of a table"}},
		{"rename", sql("ALTER TABLE a RENAME COLUMN b TO c;"), []string{"warning " + name + ":10 Migration renames a table or column"}},
		{"Rails", one("db/migrate/2024_x.rb", "    remove_column :users, :email"), []string{"warning db/migrate/2024_x.rb:0 A migration that exists already is changed", "warning db/migrate/2024_x.rb:10 Migration drops a table or column"}},
		{"Django", one("app/migrations/x.py", "        migrations.RemoveField("), []string{"warning app/migrations/x.py:10 Migration drops a table or column"}},
		{"applied migration changed", one("migrations/0001_init.sql", "CREATE TABLE a (b int);"), []string{"warning migrations/0001_init.sql:0 A migration that exists already is changed"}},

		{"default given", sql("ALTER TABLE a ADD COLUMN b int NOT NULL DEFAULT 0;"), nil},
		{"new table", sql("CREATE TABLE a (", " b int NOT NULL", ");", "CREATE INDEX i ON a (b);"), nil},
		{"concurrently", sql("CREATE INDEX CONCURRENTLY i ON a (b);"), nil},
		{"delete some", sql("DELETE FROM a", "WHERE b = 1;"), nil},
		{"constraint", sql("ALTER TABLE a DROP CONSTRAINT c;"), nil},
		{"comment", sql("-- DROP TABLE a;"), nil},
		{"way back in its own file", one("migrations/x.down.sql", "DROP TABLE a;"), nil},
		{"way back in a section", sql("-- +goose Up", "CREATE TABLE a (b int);", "-- +goose Down", "DROP TABLE a;"), nil},
		{"way back, seen at head only", []file{{path: name, patch: "@@ -3,1 +3,2 @@\n \n+DROP TABLE a;\n", head: "-- +goose Up\nCREATE TABLE a (b int);\n-- +goose Down\nDROP TABLE a;\n"}}, nil},
		{"way back in Rails", one("db/migrate/x.rb", "  def down", "    drop_table :a"), nil},
		{"query", one("queries/x.sql", "DROP TABLE a;"), nil},
		{"new numbered migration", []file{{path: "migrations/0002_x.sql", patch: added("SELECT 1;"), entry: map[string]any{"status": "added"}}}, nil},
		{"comment in an applied migration", one("migrations/0001_init.sql", "-- why"), nil},
	})
}
