import GRDB
import GRDBSQLite

let v = sqlite3_libversion_number()
