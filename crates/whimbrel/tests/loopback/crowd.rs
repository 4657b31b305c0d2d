use whimbrel::Endpoint;

use crate::support::*;

/// A thousand associations between two endpoints, each with its own content.
#[tokio::test]
async fn a_thousand_associations() {
    let server = endpoint().await;
    let client = endpoint().await;
    let listener = server.listen(PORT).unwrap();
    let serving = tokio::spawn(async move {
        for _ in 0..1000 {
            let association = soon(listener.accept()).await.unwrap();
            tokio::spawn(async move {
                while let Ok(Some(received)) = association.recv().await {
                    association.send(message(0, received.payload)).await.unwrap();
                }
            });
        }
    });
    let mut clients = Vec::new();
    let mut near = Vec::new();
    for number in 0..1000 {
        let association = soon(client.connect(&server.local_addresses(), PORT)).await.unwrap();
        near.push(association.clone());
        clients.push(tokio::spawn(async move {
            association.send(message(0, content(number, 1000))).await.unwrap();
            let received = soon(association.recv()).await.unwrap().unwrap();
            assert_eq!(received.payload, content(number, 1000));
        }));
    }
    for task in clients {
        soon(task).await.unwrap();
    }
    soon(serving).await.unwrap();
    drop(near);
    soon(client.close()).await;
    soon(server.close()).await;
}

/// Endpoints share nothing: a hundred in one process, all on the same SCTP port, each connected to the next.
#[tokio::test]
async fn many_endpoints() {
    let mut endpoints: Vec<Endpoint> = Vec::new();
    let mut listeners = Vec::new();
    for _ in 0..100 {
        let endpoint = endpoint().await;
        listeners.push(endpoint.listen(PORT).unwrap());
        endpoints.push(endpoint);
    }
    for (number, endpoint) in endpoints.iter().enumerate() {
        let next = (number + 1) % endpoints.len();
        let (near, far) = connect(endpoint, &endpoints[next], &listeners[next]).await;
        near.send(message(0, content(number, 10))).await.unwrap();
        assert_eq!(soon(far.recv()).await.unwrap().unwrap().payload, content(number, 10));
    }
    for endpoint in endpoints {
        soon(endpoint.close()).await;
    }
}
