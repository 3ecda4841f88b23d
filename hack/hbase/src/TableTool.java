import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HRegionLocation;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNotEnabledException;
import org.apache.hadoop.hbase.TableNotFoundException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * What HBase's own client says and does, for tests that need another word than that of the project's client. hack/hbase/table
 * starts it and describes its commands. It ends with an exception, and so with exit code 1, when something fails.
 */
public final class TableTool {
  private static final long WAIT_MILLIS = 60_000;

  private final Connection connection;
  private final Admin admin;

  private TableTool(Connection connection, Admin admin) {
    this.connection = connection;
    this.admin = admin;
  }

  public static void main(String[] args) throws Exception {
    try (Connection connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
        Admin admin = connection.getAdmin()) {
      new TableTool(connection, admin).run(args);
    }
  }

  private void run(String[] args) throws Exception {
    if (args[0].equals("reload")) {
      admin.updateConfiguration();
      return;
    }
    TableName table = TableName.valueOf(args[1]);
    switch (args[0]) {
      case "create" -> create(table, args);
      case "drop" -> drop(table);
      case "count" -> count(table, false);
      case "check" -> count(table, true);
      case "regions" -> regions(table);
      case "split" -> split(table, Bytes.toBytes(args[2]));
      case "move" -> move(table, Bytes.toBytes(args[2]));
      case "flush" -> admin.flush(table);
      case "compact" -> compact(table);
      case "metrics" -> metrics(table);
      default -> throw new IllegalArgumentException("no command " + args[0]);
    }
  }

  /** create TABLE FAMILY REGIONS [ATTRIBUTE=VALUE]...: an existing table is replaced. */
  private void create(TableName table, String[] args) throws IOException {
    drop(table);
    TableDescriptorBuilder descriptor = TableDescriptorBuilder.newBuilder(table);
    descriptor.setColumnFamily(ColumnFamilyDescriptorBuilder.of(args[2]));
    for (int i = 4; i < args.length; i++) {
      String[] pair = args[i].split("=", 2);
      descriptor.setValue(pair[0], pair[1]);
    }
    byte[][] splits = splits(Integer.parseInt(args[3]));
    if (splits.length == 0) {
      admin.createTable(descriptor.build());
    } else {
      admin.createTable(descriptor.build(), splits);
    }
  }

  /** The keys of YCSB are "user" and a number without leading zeros: equal parts of user1000 to user9999. */
  private static byte[][] splits(int regions) {
    byte[][] keys = new byte[regions - 1][];
    for (int i = 1; i < regions; i++) {
      keys[i - 1] = Bytes.toBytes("user" + (1000 + i * (9999 - 1000) / regions));
    }
    return keys;
  }

  /** Does not ask for the table's existence and state first, since HBase 1.7 keeps them where this client does not look. */
  private void drop(TableName table) throws IOException {
    try {
      admin.disableTable(table);
    } catch (TableNotFoundException e) {
      return;
    } catch (TableNotEnabledException e) {
      // as it should be
    }
    admin.deleteTable(table);
  }

  /** Prints "rows R cells C bytes B", bytes of values, and with check "wrong W", the values that are not what they should. */
  private void count(TableName table, boolean check) throws IOException {
    long rows = 0;
    long cells = 0;
    long bytes = 0;
    long wrong = 0;
    try (ResultScanner scanner = connection.getTable(table).getScanner(new Scan().setCaching(1000))) {
      for (Result row : scanner) {
        rows++;
        for (Cell cell : row.rawCells()) {
          cells++;
          bytes += cell.getValueLength();
          if (check && !expected(cell).equals(Bytes.toString(CellUtil.cloneValue(cell)))) {
            wrong++;
          }
        }
      }
    }
    System.out.println("rows " + rows + " cells " + cells + " bytes " + bytes + (check ? " wrong " + wrong : ""));
  }

  /** What YCSB writes with dataintegrity: the key and the field, then hash codes of all before, as long as the value is. */
  private static String expected(Cell cell) {
    StringBuilder value = new StringBuilder(Bytes.toString(CellUtil.cloneRow(cell)));
    value.append(':').append(Bytes.toString(CellUtil.cloneQualifier(cell)));
    while (value.length() < cell.getValueLength()) {
      value.append(':').append(value.toString().hashCode());
    }
    value.setLength(cell.getValueLength());
    return value.toString();
  }

  /** Prints one line per region: encoded name, first row, server. */
  private void regions(TableName table) throws IOException {
    for (HRegionLocation location : locations(table)) {
      RegionInfo region = location.getRegion();
      System.out.println(region.getEncodedName() + " [" + Bytes.toStringBinary(region.getStartKey()) + ") "
          + location.getServerName());
    }
  }

  /** Asks hbase:meta, not the client's cache. */
  private List<HRegionLocation> locations(TableName table) throws IOException {
    try (RegionLocator locator = connection.getRegionLocator(table)) {
      locator.clearRegionLocationCache();
      return locator.getAllRegionLocations();
    }
  }

  /** split TABLE ROW: before ROW; ends when both parts are there. */
  private void split(TableName table, byte[] row) throws Exception {
    int before = locations(table).size();
    admin.split(table, row);
    await("the parts of " + table, () -> locations(table).size() > before);
  }

  /** move TABLE ROW: the region of ROW to another server; prints where from and where to. */
  private void move(TableName table, byte[] row) throws Exception {
    HRegionLocation location = connection.getRegionLocator(table).getRegionLocation(row, true);
    List<ServerName> others = new ArrayList<>(admin.getRegionServers());
    others.remove(location.getServerName());
    if (others.isEmpty()) {
      throw new IllegalStateException("there is no other RegionServer");
    }
    admin.move(location.getRegion().getEncodedNameAsBytes(), others.get(0));
    System.out.println(location.getServerName() + " -> " + others.get(0));
  }

  /** compact TABLE: a major compaction; ends when nothing of it is running or queued. */
  private void compact(TableName table) throws Exception {
    admin.majorCompact(table);
    await("the compaction of " + table, () -> admin.getCompactionState(table) == CompactionState.NONE);
  }

  /** Prints one line per region: encoded name, server, rows read and written since it was opened there, store files. */
  private void metrics(TableName table) throws IOException {
    for (ServerMetrics server : admin.getClusterMetrics().getLiveServerMetrics().values()) {
      for (RegionMetrics region : server.getRegionMetrics().values()) {
        if (!RegionInfo.getTable(region.getRegionName()).equals(table)) {
          continue;
        }
        System.out.println(RegionInfo.encodeRegionName(region.getRegionName()) + " " + server.getServerName() + " reads "
            + region.getReadRequestCount() + " writes " + region.getWriteRequestCount() + " storefiles "
            + region.getStoreFileCount() + " megabytes " + (long) region.getStoreFileSize().get(Size.Unit.MEGABYTE));
      }
    }
  }

  private interface Condition {
    boolean holds() throws IOException;
  }

  private static void await(String what, Condition condition) throws Exception {
    long end = System.currentTimeMillis() + WAIT_MILLIS;
    while (!condition.holds()) {
      if (System.currentTimeMillis() > end) {
        throw new IllegalStateException("timeout: " + what);
      }
      Thread.sleep(100);
    }
  }
}
