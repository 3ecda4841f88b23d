import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.BufferedMutatorParams;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionLocator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.PageFilter;
import org.apache.hadoop.hbase.util.Bytes;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * HBase for YCSB by HBase's Java client. Its properties are those of YCSB's own binding: columnfamily (required), durability,
 * clientbuffering, writebuffersize and hbase.usepagefilter. YCSB makes one object per thread; all share a connection, and
 * each opens its table at its first operation.
 */
public class HBaseBinding extends DB {
  private static Connection connection;
  private static int users;
  private static boolean failed;

  private byte[] family;
  private Durability durability;
  private boolean pageFilter;
  private boolean buffering;
  private long bufferBytes;

  private String tableName;
  private Table table;
  private BufferedMutator mutator;

  @Override
  public void init() throws DBException {
    if (property("columnfamily", null) == null) {
      throw new DBException("property columnfamily is missing");
    }
    family = Bytes.toBytes(property("columnfamily", null));
    durability = Durability.valueOf(property("durability", "USE_DEFAULT"));
    pageFilter = Boolean.parseBoolean(property("hbase.usepagefilter", "true"));
    buffering = Boolean.parseBoolean(property("clientbuffering", "false"));
    bufferBytes = Long.parseLong(property("writebuffersize", "12582912"));
    try {
      connect(TableName.valueOf(property("table", "usertable")));
    } catch (IOException e) {
      throw new DBException(e);
    }
  }

  private String property(String name, String otherwise) {
    return getProperties().getProperty(name, otherwise);
  }

  /** The first thread makes the connection and looks for the table's first region, which also works with HBase 1.7. */
  private static synchronized void connect(TableName name) throws IOException {
    if (connection == null) {
      connection = ConnectionFactory.createConnection(HBaseConfiguration.create());
      try (RegionLocator locator = connection.getRegionLocator(name)) {
        locator.getRegionLocation(HConstants.EMPTY_START_ROW);
      }
    }
    users++;
  }

  /** The last thread closes the connection. */
  @Override
  public void cleanup() throws DBException {
    try {
      closeTable();
      synchronized (HBaseBinding.class) {
        if (--users == 0) {
          connection.close();
          connection = null;
        }
      }
    } catch (IOException e) {
      throw new DBException(e);
    }
  }

  private void closeTable() throws IOException {
    if (mutator != null) {
      mutator.close();
      mutator = null;
    }
    if (table != null) {
      table.close();
      table = null;
    }
  }

  private void open(String name) throws IOException {
    if (name.equals(tableName)) {
      return;
    }
    closeTable();
    table = connection.getTable(TableName.valueOf(name));
    if (buffering) {
      mutator = connection.getBufferedMutator(
          new BufferedMutatorParams(TableName.valueOf(name)).writeBufferSize(bufferBytes));
    }
    tableName = name;
  }

  @Override
  public Status read(String name, String key, Set<String> fields, Map<String, ByteIterator> result) {
    Get get = new Get(Bytes.toBytes(key));
    if (fields == null) {
      get.addFamily(family);
    } else {
      fields.forEach(field -> get.addColumn(family, Bytes.toBytes(field)));
    }
    try {
      open(name);
      Result row = table.get(get);
      if (row.isEmpty()) {
        return Status.NOT_FOUND;
      }
      copy(row, result);
      return Status.OK;
    } catch (IOException e) {
      return error(e);
    }
  }

  @Override
  public Status scan(String name, String start, int count, Set<String> fields, Vector<HashMap<String, ByteIterator>> result) {
    Scan scan = new Scan().withStartRow(Bytes.toBytes(start)).setCaching(count);
    if (pageFilter) {
      scan.setFilter(new PageFilter(count));
    }
    if (fields == null) {
      scan.addFamily(family);
    } else {
      fields.forEach(field -> scan.addColumn(family, Bytes.toBytes(field)));
    }
    try {
      open(name);
      try (ResultScanner rows = table.getScanner(scan)) {
        // The filter counts in each region anew, so there can be more rows.
        Result row;
        while (result.size() < count && (row = rows.next()) != null) {
          HashMap<String, ByteIterator> values = new HashMap<>();
          copy(row, values);
          result.add(values);
        }
      }
      return Status.OK;
    } catch (IOException e) {
      return error(e);
    }
  }

  private static void copy(Result row, Map<String, ByteIterator> values) {
    for (Cell cell : row.rawCells()) {
      values.put(Bytes.toString(CellUtil.cloneQualifier(cell)), new ByteArrayByteIterator(CellUtil.cloneValue(cell)));
    }
  }

  @Override
  public Status update(String name, String key, Map<String, ByteIterator> values) {
    Put put = new Put(Bytes.toBytes(key));
    values.forEach((field, value) -> put.addColumn(family, Bytes.toBytes(field), value.toArray()));
    return mutate(name, put);
  }

  @Override
  public Status insert(String name, String key, Map<String, ByteIterator> values) {
    return update(name, key, values);
  }

  @Override
  public Status delete(String name, String key) {
    return mutate(name, new Delete(Bytes.toBytes(key)));
  }

  private Status mutate(String name, Mutation mutation) {
    mutation.setDurability(durability);
    try {
      open(name);
      if (buffering) {
        mutator.mutate(mutation);
      } else if (mutation instanceof Put put) {
        table.put(put);
      } else {
        table.delete((Delete) mutation);
      }
      return Status.OK;
    } catch (IOException e) {
      return error(e);
    }
  }

  /** Tells the first error of all: YCSB itself only counts them. */
  private static synchronized Status error(IOException e) {
    if (!failed) {
      failed = true;
      e.printStackTrace();
    }
    return Status.ERROR;
  }
}
